import { authenticate, type Caller } from '../lib/access/authenticate.ts'
import type { Body, Operation } from '../lib/contract/operation.ts'
import { parse, readJson } from '../lib/parse.ts'
import type { Services } from '../lib/services.ts'
import type { Asked } from './context.ts'

export const MAX_BODY_BYTES = 16 * 1024

/** Lets the request in, or throws. null: the operation is public. */
export function admit(
  services: Services,
  row: Operation,
  c: Asked,
  now: number,
): Caller | null | Promise<Caller> {
  if (row.access === 'public') return null
  return authenticate(services, (name) => c.req.header(name), row, now)
}

export function readQuery({ query }: Operation, c: Asked): unknown {
  return query === undefined ? undefined : parse(query, c.req.query())
}

export async function readBody(body: Body, request: Request): Promise<unknown> {
  return parse(body.schema, await readJson(request, body.maxBytes ?? MAX_BODY_BYTES))
}
