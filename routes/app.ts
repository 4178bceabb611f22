import { Hono } from 'hono'
import type { Operation } from '../lib/contract/operation.ts'
import { operations } from '../lib/contract/operations.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services.ts'
import { auditHandlers } from './audit.ts'
import { mountAuth } from './auth.ts'
import { serveBeacon } from './beacon.ts'
import type { Env, Handlers } from './context.ts'
import { geolocationHandlers } from './geolocation.ts'
import { keyHandlers } from './keys.ts'
import { answerOther } from './other.ts'
import { profileHandlers } from './profile.ts'
import { toResponse } from './respond.ts'
import { mountScript, scriptHandlers } from './script.ts'
import { type AnyHandler, serve } from './serve.ts'
import { siteHandlers } from './sites.ts'
import { systemHandlers } from './system.ts'
import { telemetryHandlers } from './telemetry.ts'
import { UNFINISHED, type UnfinishedId } from './unfinished.ts'
import { usageHandlers } from './usage.ts'

/** Every operation of the contract, with what answers it. */
export function createRoutes(services: Services) {
  const handlers: Handlers = {
    ...systemHandlers(services),
    ...geolocationHandlers(services),
    ...profileHandlers(services),
    ...keyHandlers(services),
    ...siteHandlers(services),
    ...usageHandlers(services),
    ...auditHandlers(services),
    ...scriptHandlers(services),
    ...telemetryHandlers(services),
  }
  return operations.map((row) => {
    if (row.id === 'sendBeacon') return { row, answer: serveBeacon(services, row) }
    // safe: `Handlers` proves that the handler of a row takes what `serve` parses by that row
    const handler = isUnfinished(row.id) ? notImplemented : (handlers[row.id] as AnyHandler)
    return { row, answer: serve(services, row, handler) }
  })
}

export type Routes = ReturnType<typeof createRoutes>

/** The whole HTTP surface. */
export function createApp(services: Services, routes = createRoutes(services)): Hono<Env> {
  const app = new Hono<Env>()
  for (const { row, answer } of routes) {
    app.on(row.method.toUpperCase(), honoPath(row), (c) => toResponse(answer(c)))
  }
  mountScript(app, services)
  if (services.handleAuth !== null) mountAuth(app, services, services.handleAuth)
  app.notFound((c) => toResponse(answerOther(services, c)))
  return app
}

function isUnfinished(id: string): id is UnfinishedId {
  return UNFINISHED.some((unfinished) => unfinished === id)
}

const notImplemented: AnyHandler = () => {
  throw new ApiError('NOT_IMPLEMENTED', 'This operation is not available yet')
}

/** /v1/ip/{ipAddress} is /v1/ip/:ipAddress to Hono. */
function honoPath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
