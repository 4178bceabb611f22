/** Rows as a list for each column: another thread gets these much faster than an object for each row. */
export type Columns<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends number ? Float64Array : readonly Row[Name][]
}

/** Returns the rows of the columns, in order. */
export function rowsOf<Row extends object>(columns: Columns<Row>): Row[] {
  const lists: [string, ArrayLike<unknown>][] = Object.entries(columns)
  const { length } = lists[0]?.[1] ?? []
  return Array.from({ length }, (_, at) => {
    const row: Record<string, unknown> = {}
    for (const [name, list] of lists) row[name] = list[at]
    // safe: a list has the values of its column
    return row as Row
  })
}
