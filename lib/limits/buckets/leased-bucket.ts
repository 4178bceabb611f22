import type { Ask, Grant } from './bucket-store.ts'
import {
  type Bucket,
  type BucketState,
  EPSILON,
  type Rate,
  refusal,
  spentAt,
  stateOf,
  take,
} from './token-bucket.ts'

/**
 * What a node knows about a bucket that all nodes share. `spent` and `at` are what was charged when it last
 * asked, with what it got then.
 */
export interface LeasedBucket extends Bucket {
  readonly id: string
  /** The capacity for which `spent` is known. */
  capacity: number
  /** Requests that are charged, and not used yet. */
  tokens: number
  /** Since when it has them, in epoch milliseconds. */
  tokensAt: number
  /** Requests that were answered, and are not charged yet. */
  debt: number
  /** Requests that were answered since it last asked. */
  used: number
  /** What it has answered while the store could not be reached. */
  alone: Alone | null
}

interface Alone {
  readonly bucket: Bucket
  used: number
}

/** Requests that are not used for this long are given back. */
const HOLD_MS = 1_000

export function newLeasedBucket(id: string, now: number): LeasedBucket {
  return {
    id,
    spent: 0,
    at: now,
    capacity: 0,
    tokens: 0,
    tokensAt: now,
    debt: 0,
    used: 0,
    alone: null,
  }
}

/**
 * Takes the requests. null: the store must be asked first. One request may go ahead of that, and is charged
 * afterwards: so a caller that comes now and then never waits.
 */
export function takeLeased(
  bucket: LeasedBucket,
  rate: Rate,
  now: number,
  requests: number,
): BucketState | null {
  endAlone(bucket, rate, now)
  if (lacksTokens(bucket, rate, now, requests)) return null
  if (heldAt(bucket, now) >= requests) bucket.tokens -= requests
  else {
    const before = peekLeased(bucket, rate, now, requests)
    if (!before.allowed) return before
    bucket.debt = 1
  }
  bucket.used += requests
  return peekLeased(bucket, rate, now, 0)
}

/** Whether the store must be asked before the requests can be taken or refused. */
export function lacksTokens(
  bucket: LeasedBucket,
  rate: Rate,
  now: number,
  requests: number,
): boolean {
  if (heldAt(bucket, now) >= requests) return false
  const mayGoAhead = requests === 1 && bucket.debt === 0
  return !mayGoAhead && peekLeased(bucket, rate, now, requests).allowed
}

/** The state for all nodes together, as far as it is known; takes nothing. */
export function peekLeased(
  bucket: LeasedBucket,
  rate: Rate,
  now: number,
  requests: number,
): BucketState {
  const spent = Math.max(0, chargedAt(bucket, rate, now) - bucket.tokens + bucket.debt)
  const allowed = spent + requests <= rate.capacity + EPSILON
  return stateOf(spent, rate, allowed, allowed ? undefined : requests)
}

/** Takes requests while the store cannot be reached: of `nodes` nodes, each has an equal share of the rate. */
export function takeAlone(
  bucket: LeasedBucket,
  rate: Rate,
  {
    now,
    requests,
    nodes,
  }: { readonly now: number; readonly requests: number; readonly nodes: number },
): BucketState {
  const share = { ...rate, capacity: Math.floor(rate.capacity / nodes) }
  if (share.capacity === 0) return refusal(rate)
  const spent = (chargedAt(bucket, rate, now) + bucket.debt) / nodes
  bucket.alone ??= { bucket: { spent, at: now }, used: 0 }
  const state = take(bucket.alone.bucket, share, now, requests)
  if (state.allowed) bucket.alone.used += Math.min(requests, share.capacity)
  return state
}

/** Owes what was answered while the store could not be reached, as far as it would not be refilled by now. */
function endAlone(bucket: LeasedBucket, rate: Rate, now: number): void {
  if (bucket.alone === null) return
  const { bucket: own, used } = bucket.alone
  bucket.debt += Math.min(used, spentAt(own, rate, now))
  bucket.tokens = 0
  bucket.alone = null
}

/** Gives back requests that are taken but do not count. */
export function refundLeased(bucket: LeasedBucket, now: number, requests: number): void {
  if (bucket.alone !== null) return
  if (heldAt(bucket, now) === 0) bucket.tokensAt = now
  bucket.tokens += requests
  bucket.used = Math.max(0, bucket.used - requests)
}

/** Whether to ask now, so that later requests need not wait. */
export function isLow(bucket: LeasedBucket, rate: Rate, now: number): boolean {
  if (bucket.debt > 0) return true
  const isLeft = chargedAt(bucket, rate, now) + 1 <= rate.capacity
  return isLeft && heldAt(bucket, now) < 1 + bucket.used / 4
}

/** What to ask the store. `need`: requests that wait. */
export function toAsk(bucket: LeasedBucket, rate: Rate, now: number, need: number): Ask {
  const { id, debt, used } = bucket
  const unused = bucket.tokens - heldAt(bucket, now)
  const back = Math.max(0, unused - ((now - bucket.tokensAt) * rate.capacity) / rate.windowMs)
  bucket.tokens -= unused
  bucket.used = 0
  return { id, ...rate, debt, back, need, want: 2 * used }
}

/** Takes over the answer of the store. */
export function addGrant(
  bucket: LeasedBucket,
  ask: Ask,
  { granted, spent }: Grant,
  now: number,
): void {
  bucket.debt -= ask.debt
  if (granted > 0) bucket.tokensAt = now
  bucket.tokens += granted
  bucket.spent = spent
  bucket.at = now
  bucket.capacity = ask.capacity
}

/** Requests that may be used now. */
function heldAt({ tokens, tokensAt }: LeasedBucket, now: number): number {
  return now - tokensAt < HOLD_MS ? tokens : 0
}

/**
 * More than the capacity if nodes went ahead, so that they all wait until it is refilled; but not because the
 * user has changed to a smaller plan.
 */
function chargedAt(bucket: LeasedBucket, { capacity, windowMs }: Rate, now: number): number {
  const spent = capacity < bucket.capacity ? Math.min(bucket.spent, capacity) : bucket.spent
  return Math.max(0, spent - (Math.max(0, now - bucket.at) * capacity) / windowMs)
}
