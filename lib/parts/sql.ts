/** A statement and the values of its parameters, in the driver's types. */
export interface Query {
  readonly sql: string
  readonly params: readonly unknown[]
}

/** What a statement returned, and how many rows it changed. */
export interface Outcome {
  /** Each row is an array of values, in the order of the columns. */
  readonly rows: unknown[][]
  readonly changes: number
}
