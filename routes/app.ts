import { Hono } from 'hono'
import type { Operation } from '../lib/contract/operation.ts'
import { operations } from '../lib/contract/operations.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services.ts'
import { auditHandlers } from './audit.ts'
import type { Env, Handlers } from './context.ts'
import { geolocationHandlers } from './geolocation.ts'
import { answerOther } from './other.ts'
import { profileHandlers } from './profile.ts'
import { type AnyHandler, serve } from './serve.ts'
import { siteHandlers } from './sites.ts'
import { systemHandlers } from './system.ts'
import { UNFINISHED, type UnfinishedId } from './unfinished.ts'

/** The whole HTTP surface: every operation of the contract, with its handler. */
export function createApp(services: Services): Hono<Env> {
  const handlers: Handlers = {
    ...systemHandlers(services),
    ...geolocationHandlers(services),
    ...profileHandlers(services),
    ...siteHandlers(services),
    ...auditHandlers(services),
  }
  const app = new Hono<Env>()
  for (const row of operations) {
    // safe: `Handlers` proves that the handler of a row takes what `serve` parses by that row
    const handler = isUnfinished(row.id) ? notImplemented : (handlers[row.id] as AnyHandler)
    app.on(row.method.toUpperCase(), honoPath(row), serve(services, row, handler))
  }
  app.notFound((c) => answerOther(services, c))
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
