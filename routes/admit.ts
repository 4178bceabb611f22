import { authenticate, type Caller } from '../lib/access/authenticate.ts'
import type { Body, Operation } from '../lib/contract/operation.ts'
import { ApiError } from '../lib/errors.ts'
import { parse, readBytes, readJson } from '../lib/parse.ts'
import type { Services } from '../lib/services/services.ts'
import type { Asked } from './context.ts'
import { chargeFailure, forgiveFailure } from './limit.ts'
import type { Visit } from './visit.ts'

export const MAX_BODY_BYTES = 16 * 1024
const NO_QUERY = {}

/** Lets the request in, or throws. null: the operation is public. */
export function admit(
  services: Services,
  row: Operation,
  c: Asked,
  visit: Visit,
): Caller | null | Promise<Caller> {
  if (row.access === 'public') return null
  const { req } = c
  if (req.header('x-api-key') === undefined && req.header('authorization') !== undefined) {
    return admitSession(services, row, c, visit)
  }
  try {
    return authenticate(services, (name) => req.header(name), row, visit.now)
  } catch (error) {
    if (isUnauthorized(error) && req.header('x-api-key') !== undefined) {
      chargeFailure(services, visit)
    }
    throw error
  }
}

/**
 * To look for a session costs a read of the database or a question: it is charged as if it were no
 * good, however many come at once, until it turns out to be good.
 */
async function admitSession(services: Services, row: Operation, c: Asked, visit: Visit) {
  if (c.env?.isSignedIn === true) return findCaller(services, row, c, visit)
  const before = visit.charge
  const forgive = () => {
    forgiveFailure(services, visit)
    visit.charge = before
  }
  chargeFailure(services, visit)
  try {
    const caller = await findCaller(services, row, c, visit)
    forgive()
    return caller
  } catch (error) {
    if (!isUnauthorized(error)) forgive()
    throw error
  }
}

async function findCaller(services: Services, row: Operation, c: Asked, visit: Visit) {
  const caller = await authenticate(services, (name) => c.req.header(name), row, visit.now)
  return { ...caller, app: c.env?.app ?? caller.app }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UNAUTHORIZED'
}

export function readQuery({ query }: Operation, c: Asked): unknown {
  if (query === undefined) return undefined
  const asked = c.req.query()
  return asked === null ? NO_QUERY : parse(query, asked)
}

export async function readBody(body: Body, request: Request): Promise<unknown> {
  const { schema, raw, maxBytes = MAX_BODY_BYTES } = body
  if (raw === true) return readBytes(request, maxBytes)
  return parse(schema, await readJson(request, maxBytes))
}

/** The headers that the row names. */
export function readHeaders({ headers }: Operation, c: Asked): unknown {
  if (headers === undefined) return undefined
  return Object.fromEntries(Object.keys(headers).map((name) => [name, c.req.header(name)]))
}
