import { Hono } from 'hono'
import type { Operation } from '../lib/contract/operation.ts'
import { operations } from '../lib/contract/operations.ts'
import type { Services } from '../lib/services/services.ts'
import { mountAuth } from './api/auth.ts'
import { serveBeacon } from './api/beacon.ts'
import type { Env } from './context.ts'
import { mountDashboard } from './dashboard/dashboard.ts'
import { mountSharedVitals } from './dashboard/vitals/shared.ts'
import { createHandlers } from './handlers.ts'
import { mountMcp } from './mcp/mcp.ts'
import { answerLocalProgram } from './pages/local-program.ts'
import { mountPageAssets } from './pages/page-assets.ts'
import { mountPages, serveNotFound, wantsPage } from './pages/pages.ts'
import { mountScript } from './pages/script.ts'
import { mountReference } from './reference/reference.ts'
import { handlerOf } from './request/perform.ts'
import { toResponse } from './request/respond.ts'
import { serve } from './request/serve.ts'
import { answerUnmatched, methodsOfOthers } from './request/unmatched.ts'
import type { Api } from './request/within.ts'

/** Returns every operation of the contract with the function that answers it. */
function createRoutes({ services, handlers }: Api) {
  return operations.map((row) => {
    if (row.id === 'sendBeacon') return { row, answer: serveBeacon(services, row) }
    return { row, answer: serve(services, row, handlerOf(handlers, row)) }
  })
}

type Routes = ReturnType<typeof createRoutes>

/** Returns the router of the API, the pages and the dashboard. */
export function createApp(services: Services): Hono<Env> {
  // A path with a slash at its end is the same path: clients that join paths add one.
  const app = new Hono<Env>({ strict: false })
  const api = { services, handlers: createHandlers(services) }
  const routes = createRoutes(api)
  const isLiteral = ({ row }: Routes[number]) => !row.path.includes('{')
  mount(app, routes.filter(isLiteral))
  for (const { row } of routes.filter(isLiteral)) {
    // Otherwise GET /v1/ip/batch would look up the address "batch".
    const methods = methodsOfOthers(row.path)
    if (methods.length > 0)
      app.on(methods, row.path, (c) => toResponse(answerUnmatched(services, c)))
  }
  mount(
    app,
    routes.filter((route) => !isLiteral(route)),
  )
  mountScript(app, services)
  mountMcp(app, api)
  mountPages(app, services)
  mountReference(app, services)
  mountPageAssets(app, services)
  mountDashboard(app, api)
  mountSharedVitals(app, api)
  if (services.handleAuth !== null) mountAuth(app, services, services.handleAuth)
  app.notFound((c) =>
    wantsPage(c)
      ? serveNotFound(services, c)
      : toResponse(answerLocalProgram(services, c) ?? answerUnmatched(services, c)),
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
