import { DAY_MS, HOUR_MS, MINUTE_MS } from '../parts/durations.ts'
import { type Address, truncatedTo64 } from '../parts/net/address.ts'
import { ownText } from '../parts/own-text.ts'
import {
  type Bucket,
  type BucketState,
  type Rate,
  refund,
  spentAt,
  take,
} from './buckets/token-bucket.ts'
import { type Metered, planRate } from './meter.ts'

/** A rate limit with its name in the header RateLimit: draft-ietf-httpapi-ratelimit-headers-10. */
export interface Policy extends Rate {
  readonly name: string
}

/** The limits that do not depend on the plan. */
export const POLICIES = {
  /** Account and billing, per user, whatever keys the user has. */
  account: { name: 'per-user', capacity: 120, windowMs: MINUTE_MS },
  /** Operations without a credential, per address of the client. */
  address: { name: 'per-address', capacity: 60, windowMs: MINUTE_MS },
  /** Sign-ups and requests for mails, per address of the client. */
  addressMails: { name: 'address-mails', capacity: 30, windowMs: HOUR_MS },
  /** Sign-ins that fail, per address of the client, whatever the accounts. */
  addressSignIns: { name: 'address-sign-ins', capacity: 100, windowMs: 15 * MINUTE_MS },
  /** Beacons, per address of the client. */
  beacons: { name: 'beacons', capacity: 100, windowMs: MINUTE_MS },
  /** Changes of a user's subscription or billing account. */
  billing: { name: 'billing-changes', capacity: 60, windowMs: HOUR_MS },
  /**
   * Account, billing and telemetry, per user, for the pages of the dashboard. Separate from `account`, so
   * that a user's programs and the dashboard do not use up each other's requests.
   */
  dashboard: { name: 'dashboard', capacity: 300, windowMs: MINUTE_MS },
  /** Changes of the e-mail address, successful or not, per user. */
  emailChanges: { name: 'email-changes', capacity: 10, windowMs: HOUR_MS },
  /** Exports of everything about an account, per user. */
  exports: { name: 'exports', capacity: 10, windowMs: HOUR_MS },
  /** Inquiries without a credential, per address of the client. */
  contact: { name: 'inquiries', capacity: 5, windowMs: 15 * MINUTE_MS },
  /** Inquiries with a credential, per user and per address: one client may have many accounts. */
  inquiries: { name: 'inquiries', capacity: 5, windowMs: 15 * MINUTE_MS },
  /** New and renewed keys of a user, including those deleted since. */
  newKeys: { name: 'new-keys', capacity: 30, windowMs: HOUR_MS },
  /** Sites that a user registers, including those deleted since. */
  newSites: { name: 'new-sites', capacity: 30, windowMs: HOUR_MS },
  /** Sessions that are started by signing in, per account. */
  newSessions: { name: 'new-sessions', capacity: 60, windowMs: HOUR_MS },
  /** Attempts at actions that ask for the password again, per user. */
  passwords: { name: 'password-changes', capacity: 20, windowMs: HOUR_MS },
  /** Pages and the files that they load, per address of the client. */
  pages: { name: 'pages', capacity: 600, windowMs: MINUTE_MS },
  /** Preflights per address of the client. All are answered; above this, they are not logged. */
  preflights: { name: 'preflights', capacity: 600, windowMs: MINUTE_MS },
  /** Requests that fail for want of a credential, a path or a method, and refused forms, per address of the client. */
  strangers: { name: 'strangers', capacity: 60, windowMs: MINUTE_MS },
  /** Mails that ask somebody to be a receiver of mails about usage, per address, whichever users name it. */
  receiverMails: { name: 'receiver-mails', capacity: 3, windowMs: DAY_MS },
  /** Mails to reset a password, per account. */
  resetMails: { name: 'reset-mails', capacity: 5, windowMs: HOUR_MS },
  /** Codes of second factors that are wrong, and changes of second factors, per account. */
  secondFactors: { name: 'second-factors', capacity: 20, windowMs: HOUR_MS },
  /** Sign-ins that fail, per account. */
  signIns: { name: 'sign-ins', capacity: 20, windowMs: 15 * MINUTE_MS },
  /** Changes of mails about usage, and further receivers of them that a user adds. */
  usageMails: { name: 'usage-mails', capacity: 20, windowMs: HOUR_MS },
  /** Mails to verify an address, by sign-ups and changes of address too, per address. */
  verificationMails: { name: 'verification-mails', capacity: 5, windowMs: HOUR_MS },
  /** Links to vitals that a user makes, and mails about them that a user turns on. */
  vitalsChanges: { name: 'vitals-changes', capacity: 30, windowMs: HOUR_MS },
  /** Invalid credentials, per address of the client. */
  failures: { name: 'failed-credentials', capacity: 30, windowMs: MINUTE_MS },
} as const satisfies Record<string, Policy>

/** At this number, a new id takes the place of another one, so that a flood cannot fill the memory. */
const REMEMBERED_IDS = 100_000
/** Of so many at random, the one that has spent least is replaced. */
const CANDIDATES = 8

export type RateLimiter = ReturnType<typeof createRateLimiter>

/** A rate limiter for each policy. */
export function createLimits() {
  const limits = Object.entries(POLICIES).map(([id, policy]) => [id, createRateLimiter(policy)])
  // safe: one for each key of POLICIES
  return Object.fromEntries(limits) as Record<keyof typeof POLICIES, RateLimiter>
}

/**
 * Returns the rate limiter for the visitors of pages whose publishable keys have the plan, by `key id, blank, clientId`.
 * Each may send half of what the key may, so that one visitor cannot use up the minute of all.
 */
export function createVisitorLimits() {
  const limiters = new WeakMap<Metered['plan'], RateLimiter>()
  return (plan: Metered['plan']): RateLimiter => {
    const known = limiters.get(plan)
    if (known !== undefined) return known
    const { capacity, windowMs } = planRate(plan)
    const policy = { name: 'per-visitor', capacity: Math.ceil(capacity / 2), windowMs }
    const limiter = createRateLimiter(policy)
    limiters.set(plan, limiter)
    return limiter
  }
}

interface LimiterBucket extends Bucket {
  /** Whether the last request was refused. */
  isRefusing: boolean
}

/**
 * The buckets of one policy, in memory only. A forgotten bucket is full again. So that a client with many ids cannot
 * reset the bucket of another, one that has spent much is forgotten only if all other candidates have, too.
 */
export function createRateLimiter(policy: Policy) {
  const buckets = new Map<string, LimiterBucket>()
  /** The ids of the buckets, in any order. */
  const ids: string[] = []
  const spentOf = (at: number, now: number) => {
    const bucket = buckets.get(ids[at] ?? '')
    return bucket === undefined ? 0 : spentAt(bucket, policy, now)
  }
  /** Returns the place of the id to forget. */
  const choose = (now: number): number => {
    const candidates = Array.from({ length: CANDIDATES }, () =>
      Math.floor(Math.random() * ids.length),
    )
    return candidates.reduce((least, at) => (spentOf(at, now) < spentOf(least, now) ? at : least))
  }
  const find = (id: string, now: number) => {
    const known = buckets.get(id)
    if (known !== undefined) return known
    const place = ids.length < REMEMBERED_IDS ? ids.length : choose(now)
    const replaced = ids[place]
    if (replaced !== undefined) buckets.delete(replaced)
    const bucket = { spent: 0, at: now, isRefusing: false }
    const own = ownText(id)
    buckets.set(own, bucket)
    ids[place] = own
    return bucket
  }
  return {
    policy,
    take: (id: string, now: number, requests = 1): BucketState => {
      const bucket = find(id, now)
      const state = take(bucket, policy, now, requests)
      const isRepeated = !state.allowed && bucket.isRefusing
      bucket.isRefusing = !state.allowed
      return { ...state, isRepeated }
    },
    /** Gives back requests that were taken. */
    refund: (id: string, requests = 1) => {
      const bucket = buckets.get(id)
      if (bucket !== undefined) refund(bucket, Math.min(requests, policy.capacity))
    },
  }
}

/** The id of a client for rate limits: its address or, in IPv6, the /64 of its subscriber. */
export function clientId(address: Address | null): string {
  if (address === null) return 'unknown'
  return address.version === 4 ? address.text : truncatedTo64(address)
}
