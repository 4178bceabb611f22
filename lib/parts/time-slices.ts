import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 0.5

/** Runs all steps of the work, and lets other requests run after each half millisecond. */
export async function runInSlices<Result>(work: Iterator<void, Result>): Promise<Result> {
  let end = performance.now() + SLICE_MS
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (performance.now() < end) continue
    await nextTurn()
    end = performance.now() + SLICE_MS
  }
}

/** Maps the values in order, and lets other requests run after each half millisecond. */
export async function mapInSlices<Value, Result>(
  values: readonly Value[],
  map: (value: Value, at: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let end = performance.now() + SLICE_MS
  for (const [at, value] of values.entries()) {
    results.push(map(value, at))
    if (performance.now() < end) continue
    await nextTurn()
    end = performance.now() + SLICE_MS
  }
  return results
}
