/** Which rows of a list to read. */
export interface Part {
  /** How many rows to leave out. */
  readonly offset: number
  readonly limit: number
}

export const ALL_ROWS: Part = { offset: 0, limit: Number.MAX_SAFE_INTEGER }
