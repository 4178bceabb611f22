import type { Context } from 'hono'
import { authenticate, type Caller } from '../lib/access/authenticate.ts'
import type { Body, Operation } from '../lib/contract/operation.ts'
import { parse, readJson } from '../lib/parse.ts'
import type { Services } from '../lib/services.ts'
import type { Env } from './context.ts'

export const MAX_BODY_BYTES = 16 * 1024

/** Lets the request in, or throws. null: the operation is public. */
export function admit(
  services: Services,
  row: Operation,
  c: Context<Env>,
  now: number,
): Caller | null | Promise<Caller> {
  if (row.access === 'public') return null
  return authenticate(services, (name) => c.req.header(name), row, now)
}

export function readQuery({ query }: Operation, c: Context<Env>): unknown {
  return query === undefined ? undefined : parse(query, c.req.query())
}

export async function readBody(body: Body, c: Context<Env>): Promise<unknown> {
  return parse(body.schema, await readJson(c.req.raw, body.maxBytes ?? MAX_BODY_BYTES))
}
