import type { Context, Hono } from 'hono'
import { isOperator } from '../../lib/accounts/users.ts'
import type { UserProfile } from '../../lib/contract/account/account-schemas.ts'
import { APP_PATH, TRY_PATH } from '../../lib/contract/pages.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { operateRoutes } from '../operate/operate.ts'
import { instanceOf, type PageAnswer, servePage } from '../pages/page.ts'
import { tryWithSession } from '../reference/try-with-session.ts'
import { isUnauthorized } from '../request/admit.ts'
import { toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'
import type { Api } from '../request/within.ts'
import { accountRoutes } from './account.ts'
import { accountEndingRoutes } from './account-ending.ts'
import { showAudit } from './audit.ts'
import { batchRoutes } from './batch.ts'
import { billingRoutes } from './billing.ts'
import { emailRoutes } from './email.ts'
import { guestRoutes } from './guest.ts'
import { keyRoutes } from './keys.ts'
import { showLookUp } from './look-up.ts'
import { overageRoutes } from './overages.ts'
import { showOverview } from './overview.ts'
import { redirectTo } from './request/answer.ts'
import { answerOnce, findAnswer } from './request/answer-once.ts'
import { type CallApi, createCallApi } from './request/call-api.ts'
import { readSessionCookie, sessionCookie, setsSession } from './request/cookies.ts'
import { refuseOtherSites } from './request/same-site.ts'
import { openSession } from './request/session.ts'
import { askToSignIn, redirectToSignIn } from './request/sign-in-first.ts'
import type { AppRoute, UserVisit, Visit } from './request/visit.ts'
import { secondFactorRoutes } from './second-factor.ts'
import { siteRoutes } from './sites.ts'
import { stopMailsRoutes } from './stop-mails.ts'
import { usageRoutes } from './usage/usage.ts'
import { usageReceiverRoutes } from './usage/usage-receiver.ts'
import { vitalRoutes } from './vitals/vitals.ts'

/** For everyone. */
const GUEST_ROUTES = [...guestRoutes, ...usageReceiverRoutes, ...stopMailsRoutes]

/** For signed-in users. */
const USER_ROUTES: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app', answer: showOverview },
  { method: 'get', path: '/app/look-up', answer: showLookUp },
  { method: 'get', path: '/app/audit', answer: showAudit },
  // A script sends it, and shows each answer.
  { method: 'post', path: TRY_PATH, answer: tryWithSession, isRepeatable: true },
  ...keyRoutes,
  ...billingRoutes,
  ...overageRoutes,
  ...accountRoutes,
  ...emailRoutes,
  ...secondFactorRoutes,
  ...accountEndingRoutes,
  ...batchRoutes,
  ...siteRoutes,
  ...vitalRoutes,
  ...usageRoutes,
  ...operateRoutes,
]

/**
 * Mounts the dashboard. Its pages read and change data only by operations of the public API, except those
 * for operators, for receivers of mails, who have no account, and the links and mails of vitals: the API has no
 * operations for them.
 */
export function mountDashboard(app: Hono<Env>, api: Api): void {
  const { services } = api
  const mount = ({ method, path, answer, isOneClick }: Omit<AppRoute<Visit>, 'maxBytes'>) =>
    app.on(method.toUpperCase(), path, (c) =>
      servePage(services, c, path, (exchange) => {
        if (method === 'post' && isOneClick === undefined) refuseOtherSites(services, c)
        const token = readSessionCookie(services, c)
        return answer({ services, c, instance: instanceOf(services), exchange, token })
      }),
    )
  for (const route of GUEST_ROUTES) {
    mount({ ...route, answer: (visit) => answerOnce(visit, route) })
  }
  for (const route of USER_ROUTES) {
    mount({ ...route, answer: (visit) => answerUser(api, route, visit) })
  }
  const routesByPath = Map.groupBy([...GUEST_ROUTES, ...USER_ROUTES], ({ path }) => path)
  for (const [path, routes] of routesByPath) {
    const methods = routes.map(({ method }) => method)
    if (!methods.includes('get')) app.get(path, (c) => redirectToPage(services, c, path))
    const allow = methods.includes('post') ? 'GET, HEAD, POST, OPTIONS' : 'GET, HEAD, OPTIONS'
    app.all(path, (c) => toResponse(refuseMethod(services, c, { route: path, allow })))
  }
}

/** After an error the address bar shows a form's path. Opening it redirects to the page above. */
function redirectToPage(services: Services, c: Context<Env>, path: string): Promise<Response> {
  const above = USER_ROUTES.filter(
    (route) => route.method === 'get' && route.path !== APP_PATH && path.startsWith(route.path),
  )
  const [page] = above.toSorted((a, b) => b.path.length - a.path.length)
  const instance = instanceOf(services)
  return servePage(services, c, path, async () => redirectTo({ instance }, page?.path ?? APP_PATH))
}

async function answerUser(api: Api, route: AppRoute<UserVisit>, visit: Visit): Promise<PageAnswer> {
  const { token, exchange, services } = visit
  if (token === null) return askToSignIn(visit)
  const signInFirst = async () =>
    (await findAnswer({ ...visit, token }, route)) ?? askToSignIn(visit)
  const session = openSession(api, exchange, token)
  const callApi = createCallApi(session)
  const me = await findProfile(callApi)
  if (me === null) return signInFirst()
  // Reading a form may take long, and the session may be revoked in that time.
  if (route.method === 'post') session.verifyAgain()
  const user = { me, isOperator: await isOperator(services.db, me.id) }
  try {
    const page = await answerOnce({ ...visit, token, session, callApi, ...user }, route)
    return session.isExtended() ? extendCookie(services, page, token) : page
  } catch (error) {
    if (isUnauthorized(error)) return redirectToSignIn(visit)
    throw error
  }
}

function extendCookie(services: Services, answer: PageAnswer, token: string): PageAnswer {
  const { cookies = [] } = answer
  if (setsSession(services, cookies)) return answer
  return { ...answer, cookies: [...cookies, sessionCookie(services, token)] }
}

/** null if the session has ended. */
async function findProfile(callApi: CallApi): Promise<UserProfile | null> {
  try {
    return await callApi('getProfile')
  } catch (error) {
    if (isUnauthorized(error)) return null
    throw error
  }
}
