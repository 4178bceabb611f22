import type { Meridian } from './client.ts'
import { locateVisitor, type Visitor, type VisitorOptions } from './visitor.ts'

declare global {
  namespace Express {
    interface Request extends Visitor {}
  }
}

/** What this middleware uses of a request of Express. */
interface VisitedRequest extends Visitor {
  /** The visitor's address; behind a proxy that of Express's setting `trust proxy`. */
  readonly ip?: string | undefined
}

export type LocateVisitors = (
  request: VisitedRequest,
  response: unknown,
  next: () => void,
) => Promise<void>

/** Middleware for Express that sets `request.location` and `request.geolocation`. */
export function locateVisitors(client: Meridian, options: VisitorOptions = {}): LocateVisitors {
  return async (request, _response, next) => {
    Object.assign(request, await locateVisitor(client, request.ip, options))
    next()
  }
}
