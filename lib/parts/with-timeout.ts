/**
 * Waits for `work`, but at most for `limitMs`. After that, returns or throws what `late` does. The work goes
 * on, but its result and its errors are ignored.
 */
export async function withTimeout<Result, Late>(
  work: Promise<Result>,
  limitMs: number,
  late: () => Late,
): Promise<Result | Late> {
  const timeIsUp = Promise.withResolvers<void>()
  const timer = setTimeout(timeIsUp.resolve, limitMs)
  try {
    return await Promise.race([work, timeIsUp.promise.then(late)])
  } finally {
    clearTimeout(timer)
  }
}

/** Like `withTimeout`, but rejects with the error that `late` makes once the time is up. */
export function rejectAfter<Result>(
  work: Promise<Result>,
  limitMs: number,
  late: () => Error,
): Promise<Result> {
  return withTimeout(work, limitMs, () => {
    throw late()
  })
}
