/** What one node wants from a bucket that all nodes share. */
export interface Ask {
  /** Of the caller, or of the user for the bucket of all keys. */
  readonly id: string
  readonly capacity: number
  readonly windowMs: number
  /** Requests that were answered before they were charged. */
  readonly debt: number
  /** Requests that were charged but not used. */
  readonly back: number
  /** Requests that wait. */
  readonly need: number
  /** Requests that may come soon. */
  readonly want: number
}

export interface Grant {
  /** Requests that the node may answer: they are charged. */
  readonly granted: number
  /** All that is charged now. More than the capacity if nodes have answered requests in advance. */
  readonly spent: number
}

/** The buckets that all nodes share. */
export interface BucketStore {
  /** Charges the buckets. The result has a grant for each, in this order. Rejects if the store cannot be reached. */
  lease(asks: readonly Ask[]): Promise<readonly Grant[]>
  /** How many nodes are alive, as far as it is known. */
  countNodes(): number
  /** The time by which the buckets refill, in epoch milliseconds. */
  now(): number
}
