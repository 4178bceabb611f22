/**
 * A token bucket, kept as what is spent of it: a full one is zero and need not be kept at all, and
 * a plan with more requests gives more at once.
 */
export interface Bucket {
  /** Requests that are not given back yet; a fraction while one is on its way. */
  spent: number
  /** Epoch milliseconds for which `spent` was computed. */
  at: number
}

/** `capacity` requests at once, given back evenly over `windowMs`. */
export interface Rate {
  readonly capacity: number
  readonly windowMs: number
}

/** What an answer tells of a bucket. */
export interface Standing {
  readonly allowed: boolean
  /** Whole requests that are left. */
  readonly remaining: number
  /** Whole seconds until there is one more, or what was refused, rounded up; 0: it is full. */
  readonly resetSeconds: number
}

/** Sums of fractions miss the whole number by less than this. */
const EPSILON = 1e-6

/** Takes `requests` from the bucket at `now`, if there are as many; at most all that it can hold. */
export function take(bucket: Bucket, rate: Rate, now: number, requests = 1): Standing {
  const spent = spentAt(bucket, rate, now)
  const wanted = Math.min(requests, rate.capacity)
  const allowed = spent + wanted <= rate.capacity + EPSILON
  bucket.spent = allowed ? spent + wanted : spent
  bucket.at = now
  return allowed ? standing(bucket.spent, rate, true) : standing(bucket.spent, rate, false, wanted)
}

/** Gives a request back that was taken and is not to count. */
export function giveBack(bucket: Bucket): void {
  bucket.spent = Math.max(0, bucket.spent - 1)
}

/** What `take` would leave, without taking. */
export function look(bucket: Bucket, rate: Rate, now: number): Standing {
  const spent = spentAt(bucket, rate, now)
  return standing(spent, rate, spent + 1 <= rate.capacity + EPSILON)
}

/**
 * What is still spent at `now`. A clock that was set back gives nothing back and takes nothing; one
 * that was set forward gives back at most everything.
 */
export function spentAt({ spent, at }: Bucket, { capacity, windowMs }: Rate, now: number): number {
  const kept = Math.min(spent, capacity)
  const elapsed = now - at
  return elapsed <= 0 ? kept : Math.max(0, kept - (elapsed * capacity) / windowMs)
}

/** `wanted`: as many are waited for; else for one more than are left. */
function standing(
  spent: number,
  { capacity, windowMs }: Rate,
  allowed: boolean,
  wanted?: number,
): Standing {
  const left = capacity - spent
  const remaining = Math.max(0, Math.floor(left + EPSILON))
  const missing = spent <= EPSILON ? 0 : (wanted ?? remaining + 1) - left
  const resetSeconds = Math.ceil((missing * windowMs) / (capacity * 1000) - EPSILON)
  return { allowed, remaining, resetSeconds }
}
