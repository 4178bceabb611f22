/** What one node wants from a bucket that all nodes share. */
export interface Ask {
  /** The id of the caller; for the bucket of all keys of a user, `all:` and the id of the user. */
  readonly id: string
  readonly capacity: number
  readonly windowMs: number
  /** Requests that the node answered before they were charged. */
  readonly debt: number
  /** Requests that the node gives back: they were charged but not used. */
  readonly returned: number
  /** Requests that are waiting for the answer. */
  readonly need: number
  /** Requests that may come soon. */
  readonly want: number
}

export interface Grant {
  /** Requests that the node may answer. They are charged already. */
  readonly granted: number
  /** All requests that are charged now: more than the capacity if nodes answered some in advance. */
  readonly spent: number
}

/** The buckets that all nodes share. */
export interface BucketStore {
  /** Charges the buckets. Returns a grant for each, in the same order. Rejects if the store is away. */
  charge(asks: readonly Ask[]): Promise<readonly Grant[]>
  /**
   * How long questions in the background wait for others, to share a round trip. If a request waits for an
   * answer, all questions are sent at once. Absent: they do not wait.
   */
  readonly gatherMs?: number
  /** Returns how many nodes are live, as last known. */
  countNodes(): number
  /** The time by which the buckets refill, in epoch milliseconds. */
  now(): number
}
