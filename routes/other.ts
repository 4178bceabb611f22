import type { Context } from 'hono'
import type { Operation } from '../lib/contract/operation.ts'
import { operations } from '../lib/contract/operations.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import type { Env } from './context.ts'
import { preflightHeaders } from './cors.ts'
import type { Answer } from './respond.ts'
import { answer, answerError, openVisit } from './visit.ts'

/**
 * Answers what no operation does: preflights, methods that a path does not have, unknown paths.
 * Kept out of the router, where a second handler per path would slow the first one down.
 */
export function answerOther(services: Services, c: Context<Env>): Answer {
  const visit = openVisit(services, c)
  const rows = rowsAt(c.req.path)
  if (rows.length === 0) {
    return answerError(services, visit, new ApiError('NOT_FOUND', 'No such path'))
  }
  const allow = allowedMethods(rows)
  if (c.req.method === 'OPTIONS') {
    const headers = { allow, ...preflightHeaders(rows, c.req.header('origin')) }
    return answer(services, visit, { status: 204, json: null, headers })
  }
  const message = `${c.req.path} does not answer ${c.req.method}`
  const error = new ApiError('METHOD_NOT_ALLOWED', message, { headers: { allow } })
  return answerError(services, visit, error)
}

const PATTERNS = operations.map((row: Operation) => ({
  row,
  pattern: new RegExp(`^${row.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** A path in so many words goes before one with a parameter, as OpenAPI has it. */
function rowsAt(path: string): Operation[] {
  const rows = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ row }) => row)
  const literal = rows.filter((row) => row.path === path)
  return literal.length > 0 ? literal : rows
}

/** Paths in so many words at which a path with a parameter would answer other methods. */
export function shadowedPaths(): string[] {
  const literal = new Set(PATTERNS.map(({ row }) => row.path).filter((path) => !path.includes('{')))
  return [...literal].filter((path) =>
    PATTERNS.some(({ row, pattern }) => row.path.includes('{') && pattern.test(path)),
  )
}

function allowedMethods(rows: readonly Operation[]): string {
  const methods = new Set(rows.map(({ method }) => method.toUpperCase()))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods, 'OPTIONS'].join(', ')
}
