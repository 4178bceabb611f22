import type { Context, MiddlewareHandler } from 'hono'
import type { GetConnInfo } from 'hono/conninfo'
import type { Meridian } from './client.ts'
import { locateVisitor, type Visitor, type VisitorOptions } from './visitor.ts'

/** As for Hono's own `ipRestriction`: `getConnInfo` of the runtime, or a function of your own. */
export type GetAddress = GetConnInfo | ((context: Context) => string | undefined)

/** Middleware for Hono that sets the variables `location` and `geolocation`. */
export function locateVisitors(
  client: Meridian,
  getAddress: GetAddress,
  options: VisitorOptions = {},
): MiddlewareHandler<{ Variables: Visitor }> {
  return async (context, next) => {
    const found = getAddress(context)
    const address = typeof found === 'object' ? found.remote.address : found
    const { location, geolocation } = await locateVisitor(client, address, options)
    context.set('location', location)
    context.set('geolocation', geolocation)
    await next()
  }
}
