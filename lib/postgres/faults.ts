import { codeOf, reasonOf } from '../parts/reason.ts'

/** Whether the transaction was given up in favour of another one, and may be repeated. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01'
}

/** SQLSTATE connection_failure, which makes an error a fault of the database: see lib/db/fault.ts. */
const CONNECTION_FAILURE = '08006'

/**
 * The error for a connection that could not be made, or broke. The driver's own errors have the codes of
 * sockets, or none; `cause` keeps them.
 */
export function connectionFailure(cause: unknown): Error {
  const message = `cannot reach PostgreSQL: ${reasonOf(cause)}`
  return Object.assign(new Error(message, { cause }), { code: CONNECTION_FAILURE })
}
