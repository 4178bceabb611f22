import type { Hono } from 'hono'
import { ApiError } from '../../lib/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import { refuseMethod } from '../asset.ts'
import type { Env } from '../context.ts'
import { instanceOf, type PageAnswer, servePage } from '../page.ts'
import { toResponse } from '../respond.ts'
import { accountRoutes } from './account.ts'
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
  for (const { path } of [...GUEST_ROUTES, ...USER_ROUTES]) {
    app.all(path, (c) => toResponse(refuseMethod(services, c, path)))
  }
}

type Place = Pick<AppRoute<GuestVisit>, 'method' | 'path'>

async function answerUser(route: AppRoute<UserVisit>, visit: GuestVisit): Promise<PageAnswer> {
  const { token, sendApi } = visit
  if (token === null) return askToSignIn(visit)
  const ask = createAsk(sendApi, token)
  try {
    return await route.answer({ ...visit, token, ask, me: await ask('getProfile') })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNAUTHORIZED') return askToSignIn(visit)
    throw error
  }
}
