import { Hono } from 'hono'
import type { Operation } from '../lib/contract/operation.ts'
import { operations } from '../lib/contract/operations.ts'
import type { Services } from '../lib/services/services.ts'
import { accountHandlers } from './api/account.ts'
import { accountEndingHandlers } from './api/account-ending.ts'
import { mountAuth } from './api/auth.ts'
import { autonomousSystemHandlers } from './api/autonomous-systems.ts'
import { batchHandlers } from './api/batch.ts'
import { serveBeacon } from './api/beacon.ts'
import { billingAccountHandlers } from './api/billing/billing-account.ts'
import { duplicateHandlers } from './api/billing/duplicates.ts'
import { overageHandlers } from './api/billing/overages.ts'
import { subscriptionHandlers } from './api/billing/subscription.ts'
import { webhookHandlers } from './api/billing/webhook.ts'
import { contactHandlers } from './api/contact.ts'
import { emailHandlers } from './api/email.ts'
import { geolocationHandlers } from './api/geolocation.ts'
import { keyHandlers } from './api/keys.ts'
import { secondFactorHandlers } from './api/second-factor.ts'
import { sessionHandlers } from './api/sessions.ts'
import { siteHandlers } from './api/sites.ts'
import { summaryHandlers } from './api/summary.ts'
import { systemHandlers } from './api/system.ts'
import { telemetryHandlers } from './api/telemetry.ts'
import { usageHandlers } from './api/usage.ts'
import type { Env, Handlers } from './context.ts'
import { mountDashboard } from './dashboard/dashboard.ts'
import { mountMcp } from './mcp/mcp.ts'
import { mountPageAssets } from './pages/page-assets.ts'
import { mountPages, serveNotFound, wantsPage } from './pages/pages.ts'
import { mountScript, scriptHandlers } from './pages/script.ts'
import { mountReference } from './reference/reference.ts'
import { toResponse } from './request/respond.ts'
import { type AnyHandler, serve } from './request/serve.ts'
import { answerUnmatched } from './request/unmatched.ts'

/** Returns every operation of the contract with the function that answers it. */
function createRoutes(services: Services) {
  const handlers: Handlers = {
    ...systemHandlers(services),
    ...geolocationHandlers(services),
    ...batchHandlers(services),
    ...summaryHandlers(services),
    ...autonomousSystemHandlers(services),
    ...accountHandlers(services),
    ...accountEndingHandlers(services),
    ...sessionHandlers(services),
    ...emailHandlers(services),
    ...secondFactorHandlers(services),
    ...keyHandlers(services),
    ...siteHandlers(services),
    ...usageHandlers(services),
    ...subscriptionHandlers(services),
    ...overageHandlers(services),
    ...duplicateHandlers(services),
    ...webhookHandlers(services),
    ...billingAccountHandlers(services),
    ...scriptHandlers(services),
    ...telemetryHandlers(services),
    ...contactHandlers(services),
  }
  return operations.map((row) => {
    if (row.id === 'sendBeacon') return { row, answer: serveBeacon(services, row) }
    // safe: `Handlers` proves that the handler of a row accepts what `serve` parses by that row
    return { row, answer: serve(services, row, handlers[row.id] as AnyHandler) }
  })
}

type Routes = ReturnType<typeof createRoutes>

/** Returns the router of the API, the pages and the dashboard. */
export function createApp(services: Services): Hono<Env> {
  const app = new Hono<Env>()
  const routes = createRoutes(services)
  const isLiteral = ({ row }: Routes[number]) => !row.path.includes('{')
  mount(app, routes.filter(isLiteral))
  mount(
    app,
    routes.filter((route) => !isLiteral(route)),
  )
  mountScript(app, services)
  mountMcp(app, services)
  mountPages(app, services)
  mountReference(app, services)
  mountPageAssets(app, services)
  mountDashboard(app, services)
  if (services.handleAuth !== null) mountAuth(app, services, services.handleAuth)
  app.notFound((c) =>
    wantsPage(c) ? serveNotFound(services, c) : toResponse(answerUnmatched(services, c)),
  )
  return app
}

function mount(app: Hono<Env>, routes: Routes): void {
  for (const { row, answer } of routes) {
    app.on(row.method.toUpperCase(), honoPath(row), async (c) => toResponse(await answer(c)))
  }
}

/** Turns /v1/ip/{ipAddress} into /v1/ip/:ipAddress. */
function honoPath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
