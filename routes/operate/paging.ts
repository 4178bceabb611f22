/** The rows of a page. One row more was read, to find out whether there is a next page. */
export interface SplitPage<Row> {
  readonly rows: readonly Row[]
  /** The row after which the next page begins; undefined: there is none. */
  readonly last: Row | undefined
}

export function splitPage<Row>(found: readonly Row[], size: number): SplitPage<Row> {
  const rows = found.slice(0, size)
  return { rows, last: found.length > size ? rows.at(-1) : undefined }
}
