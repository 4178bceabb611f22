import type { Context, Hono } from 'hono'
import { APP_PATH } from '../../lib/contract/pages.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import { refuseMethod } from '../asset.ts'
import type { Env } from '../context.ts'
import { instanceOf, type PageAnswer, servePage } from '../page.ts'
import { toResponse } from '../respond.ts'
import { accountRoutes } from './account.ts'
import { leadTo } from './answer.ts'
import { createAsk } from './ask.ts'
import { auditRoutes } from './audit.ts'
import { batchRoutes } from './batch.ts'
import { billingRoutes } from './billing.ts'
import { invoiceRoutes } from './invoices.ts'
import { keyRoutes } from './keys.ts'
import { lookUpRoutes } from './look-up.ts'
import { overviewRoutes } from './overview.ts'
import { passwordResetRoutes } from './password-reset.ts'
import { refuseOtherSites } from './same-site.ts'
import { createSendApi } from './send-api.ts'
import { readSessionCookie } from './session-cookie.ts'
import { signInRoutes } from './sign-in.ts'
import { askToSignIn } from './sign-in-first.ts'
import { signUpRoutes } from './sign-up.ts'
import { siteRoutes } from './sites.ts'
import type { AppRoute, GuestVisit, UserVisit } from './visit.ts'
import { vitalRoutes } from './vitals.ts'

/** Open to everybody. */
const GUEST_ROUTES: readonly AppRoute<GuestVisit>[] = [
  ...signInRoutes,
  ...signUpRoutes,
  ...passwordResetRoutes,
]

/** For who is signed in. */
const USER_ROUTES: readonly AppRoute<UserVisit>[] = [
  ...overviewRoutes,
  ...keyRoutes,
  ...billingRoutes,
  ...invoiceRoutes,
  ...accountRoutes,
  ...lookUpRoutes,
  ...batchRoutes,
  ...auditRoutes,
  ...siteRoutes,
  ...vitalRoutes,
]

/** Mounts the dashboard, which does everything by the public API. */
export function mountDashboard(app: Hono<Env>, services: Services): void {
  const mount = ({ method, path }: Place, answer: (visit: GuestVisit) => Promise<PageAnswer>) =>
    app.on(method.toUpperCase(), path, (c) =>
      servePage(services, c, path, (visit) => {
        if (method === 'post') refuseOtherSites(services, c)
        const sendApi = createSendApi(app.fetch, services, c, visit)
        const token = readSessionCookie(c)
        return answer({ services, c, instance: instanceOf(services), visit, sendApi, token })
      }),
    )
  for (const route of GUEST_ROUTES) mount(route, route.answer)
  for (const route of USER_ROUTES) mount(route, (visit) => answerUser(route, visit))
  for (const [path, methods] of methodsByPath()) {
    if (!methods.has('get')) app.get(path, (c) => leadToPage(services, c, path))
    const allow = methods.has('post') ? 'GET, HEAD, POST, OPTIONS' : 'GET, HEAD, OPTIONS'
    app.all(path, (c) => toResponse(refuseMethod(services, c, path, allow)))
  }
}

function methodsByPath(): Map<string, Set<'get' | 'post'>> {
  const paths = new Map<string, Set<'get' | 'post'>>()
  for (const { path, method } of [...GUEST_ROUTES, ...USER_ROUTES]) {
    paths.set(path, (paths.get(path) ?? new Set()).add(method))
  }
  return paths
}

/** A page that says why a form was refused stands at the address of the form, which may be opened. */
function leadToPage(services: Services, c: Context<Env>, path: string): Promise<Response> {
  const page = USER_ROUTES.find(
    (route) => route.method === 'get' && route.path !== APP_PATH && path.startsWith(route.path),
  )
  const instance = instanceOf(services)
  return servePage(services, c, path, async () => leadTo({ instance }, page?.path ?? APP_PATH))
}

type Place = Pick<AppRoute<GuestVisit>, 'method' | 'path'>

async function answerUser(route: AppRoute<UserVisit>, visit: GuestVisit): Promise<PageAnswer> {
  const { token, sendApi } = visit
  if (token === null) return askToSignIn(visit)
  try {
    const me = await createAsk(sendApi, { token, isSignedIn: false })('getProfile')
    const ask = createAsk(sendApi, { token, isSignedIn: true })
    return await route.answer({ ...visit, token, ask, me })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNAUTHORIZED') return askToSignIn(visit)
    throw error
  }
}
