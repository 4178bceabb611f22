import { Hono } from 'hono'
import type { Operation } from '../lib/contract/operation.ts'
import { operations } from '../lib/contract/operations.ts'
import type { Services } from '../lib/services/services.ts'
import { auditHandlers } from './audit.ts'
import { mountAuth } from './auth.ts'
import { batchHandlers } from './batch.ts'
import { serveBeacon } from './beacon.ts'
import { billingAccountHandlers } from './billing-account.ts'
import { contactHandlers } from './contact.ts'
import type { Env, Handlers } from './context.ts'
import { mountDashboard } from './dashboard/dashboard.ts'
import { geolocationHandlers } from './geolocation.ts'
import { keyHandlers } from './keys.ts'
import { answerOther, shadowedPaths } from './other.ts'
import { overageHandlers } from './overages.ts'
import { mountPageAssets } from './page-assets.ts'
import { isForPeople, mountPages, serveNoPage } from './pages.ts'
import { paymentMethodHandlers } from './payment-method.ts'
import { profileHandlers } from './profile.ts'
import { toResponse } from './respond.ts'
import { mountScript, scriptHandlers } from './script.ts'
import { type AnyHandler, serve } from './serve.ts'
import { siteHandlers } from './sites.ts'
import { subscriptionHandlers } from './subscription.ts'
import { systemHandlers } from './system.ts'
import { taxIdHandlers } from './tax-ids.ts'
import { telemetryHandlers } from './telemetry.ts'
import { usageHandlers } from './usage.ts'
import { webhookHandlers } from './webhook.ts'

/** Every operation of the contract, with what answers it. */
export function createRoutes(services: Services) {
  const handlers: Handlers = {
    ...systemHandlers(services),
    ...geolocationHandlers(services),
    ...batchHandlers(services),
    ...profileHandlers(services),
    ...keyHandlers(services),
    ...siteHandlers(services),
    ...usageHandlers(services),
    ...auditHandlers(services),
    ...subscriptionHandlers(services),
    ...webhookHandlers(services),
    ...overageHandlers(services),
    ...billingAccountHandlers(services),
    ...taxIdHandlers(services),
    ...paymentMethodHandlers(services),
    ...scriptHandlers(services),
    ...telemetryHandlers(services),
    ...contactHandlers(services),
  }
  return operations.map((row) => {
    if (row.id === 'sendBeacon') return { row, answer: serveBeacon(services, row) }
    // safe: `Handlers` proves that the handler of a row takes what `serve` parses by that row
    return { row, answer: serve(services, row, handlers[row.id] as AnyHandler) }
  })
}

export type Routes = ReturnType<typeof createRoutes>

/** The whole HTTP surface. */
export function createApp(services: Services, routes = createRoutes(services)): Hono<Env> {
  const app = new Hono<Env>()
  const isLiteral = ({ row }: Routes[number]) => !row.path.includes('{')
  mount(app, routes.filter(isLiteral))
  for (const path of shadowedPaths()) {
    app.all(path, (c) => toResponse(answerOther(services, c)))
  }
  mount(
    app,
    routes.filter((route) => !isLiteral(route)),
  )
  mountScript(app, services)
  mountPages(app, services)
  mountPageAssets(app, services)
  mountDashboard(app, services)
  if (services.handleAuth !== null) mountAuth(app, services, services.handleAuth)
  app.notFound((c) =>
    isForPeople(c) ? serveNoPage(services, c) : toResponse(answerOther(services, c)),
  )
  return app
}

function mount(app: Hono<Env>, routes: Routes): void {
  for (const { row, answer } of routes) {
    app.on(row.method.toUpperCase(), honoPath(row), (c) => toResponse(answer(c)))
  }
}

/** /v1/ip/{ipAddress} is /v1/ip/:ipAddress to Hono. */
function honoPath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
