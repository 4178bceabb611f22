/** The median time of `passes` runs of `work` in milliseconds, after one warm-up run. */
export function medianTime(passes: number, work: () => unknown): Promise<number> {
  return medianOf(passes, async () => {
    const startedAt = performance.now()
    await work()
    return performance.now() - startedAt
  })
}

/** The median of `passes` measured values, after one warm-up measurement. */
export async function medianOf(passes: number, measure: () => Promise<number>): Promise<number> {
  await measure()
  return median(await Array.fromAsync({ length: passes }, measure))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN
  return (lower + upper) / 2
}
