import { authenticate, type Caller } from '../lib/access/authenticate.ts'
import type { Body, Operation } from '../lib/contract/operation.ts'
import { ApiError } from '../lib/errors.ts'
import { parse, readJson } from '../lib/parse.ts'
import type { Services } from '../lib/services.ts'
import type { Asked } from './context.ts'
import { chargeFailure, refuseAfterFailures } from './limit.ts'
import type { Visit } from './visit.ts'

export const MAX_BODY_BYTES = 16 * 1024

/** Lets the request in, or throws. null: the operation is public. */
export function admit(
  services: Services,
  row: Operation,
  c: Asked,
  visit: Visit,
): Caller | null | Promise<Caller> {
  if (row.access === 'public') return null
  try {
    // Keys are in memory; to look for a session costs a read of the database or a question.
    if (showsSession(c)) refuseAfterFailures(services, visit)
    const caller = authenticate(services, (name) => c.req.header(name), row, visit.now)
    return caller instanceof Promise
      ? caller.catch((error) => refuse(services, c, visit, error))
      : caller
  } catch (error) {
    return refuse(services, c, visit, error)
  }
}

function showsSession({ req }: Asked): boolean {
  return req.header('x-api-key') === undefined && req.header('authorization') !== undefined
}

/** Throws the error, or another one where the address has sent too many bad credentials. */
function refuse(services: Services, c: Asked, visit: Visit, error: unknown): never {
  const isGiven = c.req.header('x-api-key') !== undefined || showsSession(c)
  const isBad = error instanceof ApiError && error.code === 'UNAUTHORIZED'
  if (isBad && isGiven) chargeFailure(services, visit)
  throw error
}

export function readQuery({ query }: Operation, c: Asked): unknown {
  return query === undefined ? undefined : parse(query, c.req.query())
}

export async function readBody(body: Body, request: Request): Promise<unknown> {
  return parse(body.schema, await readJson(request, body.maxBytes ?? MAX_BODY_BYTES))
}
