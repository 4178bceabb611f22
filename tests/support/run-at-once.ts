/** Runs work that a server does in slices: test files that are loaded by require cannot await. */
export function runAtOnce<Result>(work: Iterator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
