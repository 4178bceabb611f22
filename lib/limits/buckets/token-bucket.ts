/**
 * A token bucket, stored as the amount spent: a full bucket is zero and need not be stored, and a
 * change to a larger plan takes effect at once.
 */
export interface Bucket {
  /** Requests not refilled yet; fractional while one is refilling. */
  spent: number
  /** The time for which `spent` was computed, in epoch milliseconds. */
  at: number
}

/** `capacity` requests at once, refilled evenly over `windowMs`. */
export interface Rate {
  readonly capacity: number
  readonly windowMs: number
}

/** The state of a bucket, as an answer reports it. */
export interface BucketState {
  readonly allowed: boolean
  /** Whole requests left. */
  readonly remaining: number
  /**
   * Seconds, rounded up, until one more request fits, or until the refused requests fit; 0 if the
   * bucket is full.
   */
  readonly resetSeconds: number
  /** Whether the client was refused before, and nothing was allowed since; absent: not known. */
  readonly isRepeated?: boolean
}

/** Rounding errors of sums of fractions are smaller than this. */
export const EPSILON = 1e-6

/** Takes `requests`, or the capacity if that is less, from the bucket if it holds that many. */
export function take(bucket: Bucket, rate: Rate, now: number, requests = 1): BucketState {
  const spent = spentAt(bucket, rate, now)
  const wanted = Math.min(requests, rate.capacity)
  const allowed = spent + wanted <= rate.capacity + EPSILON
  bucket.spent = allowed ? spent + wanted : spent
  bucket.at = now
  return allowed ? stateOf(bucket.spent, rate, true) : stateOf(bucket.spent, rate, false, wanted)
}

/** Returns requests to the bucket that were taken but do not count. */
export function refund(bucket: Bucket, requests = 1): void {
  bucket.spent = Math.max(0, bucket.spent - requests)
}

/** Returns the state of the bucket at `now`, and whether it holds `requests`; takes nothing. */
export function peek(bucket: Bucket, rate: Rate, now: number, requests = 1): BucketState {
  const spent = spentAt(bucket, rate, now)
  const allowed = spent + requests <= rate.capacity + EPSILON
  return allowed ? stateOf(spent, rate, true) : stateOf(spent, rate, false, requests)
}

/**
 * The amount still spent at `now`. Setting the clock back changes nothing; setting it forward refills at
 * most the whole bucket.
 */
export function spentAt({ spent, at }: Bucket, { capacity, windowMs }: Rate, now: number): number {
  const kept = Math.min(spent, capacity)
  const elapsed = now - at
  return elapsed <= 0 ? kept : Math.max(0, kept - (elapsed * capacity) / windowMs)
}

/** The state of a bucket that stays empty for a whole window. */
export function refusal({ windowMs }: Rate): BucketState {
  return { allowed: false, remaining: 0, resetSeconds: windowMs / 1_000 }
}

/** `wanted` is the number of refused requests; undefined if none were refused. */
export function stateOf(
  spent: number,
  { capacity, windowMs }: Rate,
  allowed: boolean,
  wanted?: number,
): BucketState {
  const left = capacity - spent
  const remaining = Math.max(0, Math.floor(left + EPSILON))
  const missing = spent <= EPSILON ? 0 : (wanted ?? remaining + 1) - left
  const resetSeconds = Math.ceil((missing * windowMs) / (capacity * 1000) - EPSILON)
  return { allowed, remaining, resetSeconds }
}
