import { codeOf } from '../reason.ts'

/** Whether the transaction was given up in favour of another one, and may be repeated. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01'
}
