/** Says in one line why something failed, for a log or as part of another message. */
export function reasonOf(error: unknown): string {
  // An error that combines several connection attempts has only a code.
  return error instanceof Error ? error.message || codeOf(error) : String(error)
}

/** Appends `advice` to `reason`, unless it is empty. */
export function withAdvice(reason: string, advice: string): string {
  return advice === '' ? reason : `${reason}; ${advice}`
}

/** The code of an error, such as ENOENT; '' if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** The reason of an error thrown by `fetch`, which names it only in the cause. */
export function fetchReasonOf(error: unknown): string {
  return reasonOf(error instanceof Error ? (error.cause ?? error) : error)
}
