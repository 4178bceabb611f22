/** The first and last hour (seconds since 1970-01-01) and the length of a step in seconds. */
export interface TimelineSpan {
  readonly from: number
  readonly to: number
  readonly step: number
}

export type Column = (number | null)[]

/** The times, and p50, p75, p95 and the number of values at each time. */
export type Columns = [times: number[], p50: Column, p75: Column, p95: Column, values: Column]

/**
 * Turns the points of a table into the columns of a chart. A point is `time p50 p75 p95 values`; a
 * missing percentile is an empty string. Steps without a point become gaps, not zeros.
 */
export function toColumns(points: readonly string[], { from, to, step }: TimelineSpan): Columns {
  const rows = new Map(
    points.map((point) => {
      const [time, ...numbers] = point.split(' ').map(toNumber)
      return [time, numbers]
    }),
  )
  const columns: Columns = [[], [], [], [], []]
  for (let time = from - (from % step); time <= to; time += step) {
    const row = rows.get(time) ?? []
    columns[0].push(time)
    for (const at of [1, 2, 3, 4] as const) columns[at].push(row[at - 1] ?? null)
  }
  return columns
}

function toNumber(text: string): number | null {
  return text === '' ? null : Number(text)
}

/** The indexes of values between two gaps, which a line cannot show. */
export function listIsolated(column: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number) => (column[at] ?? null) !== null
  return Array.from(column, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  )
}

/**
 * Which steps have percentiles that chance moves: the one that still runs at `now` (seconds since 1970-01-01),
 * and those with less than a quarter of the usual values, the error growing with the root of the number:
 * https://en.wikipedia.org/wiki/Standard_error
 */
export function findUnsure([times, , , , values]: Columns, step: number, now: number): boolean[] {
  const counts = values.filter((count) => count !== null && count > 0).sort(compare)
  const usual = counts[Math.floor(counts.length / 2)] ?? 0
  return times.map((time, at) => time + step > now || (values[at] ?? 0) < usual / 4)
}

function compare(one: number | null, other: number | null): number {
  return (one ?? 0) - (other ?? 0)
}
