import {
  type Bucket,
  type BucketState,
  EPSILON,
  type Rate,
  refund,
  refusal,
  spentAt,
  stateOf,
  take,
} from './token-bucket.ts'

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

/**
 * What this node knows about a bucket that all nodes share. `at` is when the store last answered, and `spent`
 * everything that was charged to the bucket then, including this node's grant.
 */
export interface SharedBucket extends Bucket {
  readonly id: string
  /** The capacity of the bucket at that time. */
  capacity: number
  /** Requests that the store has granted to this node, and that it has not used yet. */
  tokens: number
  /** When the node got them, in epoch milliseconds. */
  tokensAt: number
  /** How many nodes were live when the store last answered. */
  nodes: number
  /** Requests that the node has answered, and that are not charged yet. */
  debt: number
  /** Requests that the node has answered since it last asked. */
  used: number
  /** When requests were last taken or refused. */
  usedAt: number
  /** The node's own share of the rate, from which it answers while the store is away; null: it has none. */
  ownShare: OwnShare | null
}

interface OwnShare {
  readonly bucket: Bucket
  /** As last known. */
  capacity: number
  /** Requests that were answered from it. */
  used: number
}

/**
 * After a second, a node returns the requests it has not used. It may keep its share of what refills in that
 * second, so that it need not ask again for a quiet caller. What is charged refills while it is held: kept shares let all nodes together answer at most what
 * refills in this time too many, and younger requests as many again.
 */
const HOLD_MS = 1_000
/** A node that knows a bucket at a time so far ahead has had its clock set back: the bucket may have refilled. */
const SET_BACK_MS = 5_000

export function newSharedBucket(id: string, now: number): SharedBucket {
  return {
    id,
    spent: 0,
    at: now,
    capacity: 0,
    tokens: 0,
    tokensAt: now,
    nodes: 1,
    debt: 0,
    used: 0,
    usedAt: now,
    ownShare: null,
  }
}

/**
 * Takes the requests. null: the store must be asked first. A single request may be answered in advance and
 * charged afterwards, so that a caller who sends one now and then never waits.
 */
export function takeShared(
  bucket: SharedBucket,
  rate: Rate,
  now: number,
  requests: number,
): BucketState | null {
  bucket.usedAt = now
  if (lacksTokens(bucket, rate, now, requests)) return null
  if (heldAt(bucket, rate, now) >= requests) bucket.tokens -= requests
  else {
    const before = peekShared(bucket, rate, now, requests)
    if (!before.allowed) return before
    bucket.debt = 1
  }
  bucket.used += requests
  return peekShared(bucket, rate, now, 0)
}

/**
 * Whether the store must be asked before the requests can be taken or refused. It answers again, so the node's own
 * share ends. Refuses without asking only if what the store has charged is reason enough: debt may have refilled.
 */
export function lacksTokens(
  bucket: SharedBucket,
  rate: Rate,
  now: number,
  requests: number,
): boolean {
  endOwnShare(bucket, rate, now)
  if (heldAt(bucket, rate, now) >= requests) return false
  const { debt } = bucket
  if (debt === 0 && peekShared(bucket, rate, now, requests).allowed) return requests > 1
  const charged = Math.max(0, chargedAt(bucket, rate, now) - bucket.tokens)
  const isSetBack = bucket.at - now > SET_BACK_MS
  return isSetBack || charged + requests <= rate.capacity + EPSILON
}

/** Returns the state of the bucket for all nodes together, as last known; takes nothing. */
export function peekShared(
  bucket: SharedBucket,
  rate: Rate,
  now: number,
  requests: number,
): BucketState {
  const spent = Math.max(0, chargedAt(bucket, rate, now) - bucket.tokens + bucket.debt)
  const allowed = spent + requests <= rate.capacity + EPSILON
  return stateOf(spent, rate, allowed, allowed ? undefined : requests)
}

/** Takes requests while the store is away. Each of `nodes` nodes has an equal share of the rate. */
export function takeFromOwnShare(
  bucket: SharedBucket,
  rate: Rate,
  {
    now,
    requests,
    nodes,
  }: { readonly now: number; readonly requests: number; readonly nodes: number },
): BucketState {
  bucket.usedAt = now
  const shareRate = { ...rate, capacity: Math.floor(rate.capacity / nodes) }
  if (shareRate.capacity === 0) return refusal(rate)
  const spent = (chargedAt(bucket, rate, now) + bucket.debt) / nodes
  const { capacity } = shareRate
  const own = bucket.ownShare ?? { bucket: { spent, at: now }, capacity, used: 0 }
  bucket.ownShare = own
  own.capacity = capacity
  const state = take(own.bucket, shareRate, now, requests)
  if (state.allowed) own.used += Math.min(requests, capacity)
  return state
}

/** Ends the node's own share: what it has answered from it, and has not refilled since, becomes debt. */
function endOwnShare(bucket: SharedBucket, rate: Rate, now: number): void {
  if (bucket.ownShare === null) return
  const { bucket: own, used } = bucket.ownShare
  bucket.debt += Math.min(used, spentAt(own, rate, now))
  bucket.tokens = 0
  bucket.ownShare = null
}

/** Gives back requests that were taken but do not count. */
export function refundShared(bucket: SharedBucket, now: number, requests: number): void {
  if (bucket.ownShare !== null) {
    refundOwnShare(bucket.ownShare, requests)
    return
  }
  const uncharged = Math.min(bucket.debt, requests)
  bucket.debt -= uncharged
  if (bucket.tokens === 0) bucket.tokensAt = now
  bucket.tokens += requests - uncharged
  bucket.used = Math.max(0, bucket.used - requests)
}

function refundOwnShare(own: OwnShare, requests: number): void {
  // A request for more than the share has taken all of it.
  const taken = Math.min(requests, own.capacity, own.used)
  refund(own.bucket, taken)
  own.used -= taken
}

/** Whether to ask now, so that later requests need not wait. */
export function isLow(bucket: SharedBucket, rate: Rate, now: number): boolean {
  if (bucket.debt > 0) return true
  const isLeft = chargedAt(bucket, rate, now) + 1 <= rate.capacity
  return isLeft && heldAt(bucket, rate, now) < 1 + bucket.used / 4
}

/** Returns the question for the store, and takes what it gives back off the bucket. `need`: waiting requests. */
export function toAsk(bucket: SharedBucket, rate: Rate, now: number, need: number): Ask {
  const { id, debt, used } = bucket
  const held = heldAt(bucket, rate, now)
  const usedInHold = (used * HOLD_MS) / Math.max(HOLD_MS, now - bucket.at)
  const want = Math.max(2 * usedInHold, Math.min(2 * used, shareOf(bucket, rate) - held))
  const unused = bucket.tokens - held
  // Whatever other nodes have charged, at least this much of it has not refilled yet.
  const returned = Math.min(unused, chargedAt(bucket, rate, now))
  bucket.tokens -= unused
  bucket.used = 0
  return { id, ...rate, debt, returned, need, want: Math.ceil(want) }
}

/** Applies the store's answer to the bucket. `nodes` are live. */
export function addGrant(
  bucket: SharedBucket,
  ask: Ask,
  { granted, spent }: Grant,
  { now, nodes }: { readonly now: number; readonly nodes: number },
): void {
  // What was refunded while it was charged may be used again.
  const refunded = Math.max(0, ask.debt - bucket.debt)
  bucket.debt -= ask.debt - refunded
  if (granted + refunded > 0) bucket.tokensAt = now
  bucket.nodes = nodes
  bucket.tokens += granted + refunded
  bucket.spent = spent
  bucket.at = now
  bucket.capacity = ask.capacity
}

/** Notes that the store has charged the debt by `now`, however late. It refills from then on. */
export function payDebt(bucket: SharedBucket, ask: Ask, now: number): void {
  const paid = Math.min(bucket.debt, ask.debt)
  bucket.debt -= paid
  bucket.spent = chargedAt(bucket, ask, now) + paid
  bucket.at = now
  bucket.capacity = ask.capacity
}

/** Returns the granted requests that the node may still use. */
function heldAt(bucket: SharedBucket, rate: Rate, now: number): number {
  const { tokens, tokensAt } = bucket
  return now - tokensAt < HOLD_MS || tokens <= shareOf(bucket, rate) ? tokens : 0
}

/** Returns the node's share of what refills in `HOLD_MS`. */
function shareOf({ nodes }: SharedBucket, { capacity, windowMs }: Rate): number {
  return Math.floor((capacity * HOLD_MS) / (windowMs * nodes))
}

/**
 * Returns what is charged at `now`. If nodes answered requests in advance, that is more than the capacity,
 * and all nodes wait until it has refilled. A change to a smaller plan alone does not make it more.
 */
function chargedAt(bucket: SharedBucket, { capacity, windowMs }: Rate, now: number): number {
  const spent = capacity < bucket.capacity ? Math.min(bucket.spent, capacity) : bucket.spent
  return Math.max(0, spent - (Math.max(0, now - bucket.at) * capacity) / windowMs)
}
