/** Seconds since 1970-01-01, of the first and the last hour, and of a step. */
export interface TimelineSpan {
  readonly from: number
  readonly to: number
  readonly step: number
}

export type Column = (number | null)[]

/** Times, and for each of them p50, p75, p95 and the number of values. */
export type Columns = [times: number[], p50: Column, p75: Column, p95: Column, values: Column]

/**
 * The columns of a chart from the points of a table, each `time p50 p75 p95 values` with nothing in
 * place of a percentile that is not there. Steps without a point are gaps, not zeros.
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

/** Where a value stands alone between gaps: a line does not show it. */
export function listLonely(column: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number) => (column[at] ?? null) !== null
  return Array.from(column, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  )
}
