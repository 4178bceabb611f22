import { type Address, truncatedTo64 } from '../address.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { type Bucket, giveBack, type Rate, type Standing, take } from './token-bucket.ts'

/** A limit that answers name: see draft-ietf-httpapi-ratelimit-headers-10. */
export interface Policy extends Rate {
  readonly name: string
}

const MINUTE_MS = 60_000

/** The limits that no plan changes. */
export const POLICIES = {
  /** Account and billing, per key or user of a session. */
  account: { name: 'per-caller', capacity: 120, windowMs: MINUTE_MS },
  /** What needs no credential, per address of the client. */
  address: { name: 'per-address', capacity: 60, windowMs: MINUTE_MS },
  /** Beacons, per address of the client. */
  beacons: { name: 'beacons', capacity: 100, windowMs: MINUTE_MS },
  /** Inquiries without a key, per address of the client. */
  contact: { name: 'inquiries', capacity: 5, windowMs: 15 * MINUTE_MS },
  /** Credentials that are not good, per address of the client. */
  failures: { name: 'failed-credentials', capacity: 30, windowMs: MINUTE_MS },
} as const satisfies Record<string, Policy>

/** Buckets of one policy, in memory alone. */
export interface RateLimiter {
  readonly policy: Policy
  take(id: string, now: number): Standing
  /** Gives back one that was taken. */
  giveBack(id: string): void
}

/** Ids that are remembered: a flood of more forgets the oldest, and takes no more memory. */
const REMEMBERED_IDS = 100_000

export function createRateLimiter(policy: Policy): RateLimiter {
  const buckets = new BoundedCache<string, Bucket>(REMEMBERED_IDS)
  const find = (id: string, now: number) => {
    const known = buckets.get(id)
    if (known !== undefined) return known
    const bucket = { spent: 0, at: now }
    buckets.set(id, bucket)
    return bucket
  }
  return {
    policy,
    take: (id, now) => take(find(id, now), policy, now),
    giveBack: (id) => {
      const bucket = buckets.get(id)
      if (bucket !== undefined) giveBack(bucket)
    },
  }
}

/** What clients are told apart by: the address, or the /64 of an IPv6 one, which one site holds. */
export function clientId(address: Address | null): string {
  if (address === null) return 'unknown'
  return address.version === 4 ? address.text : truncatedTo64(address)
}
