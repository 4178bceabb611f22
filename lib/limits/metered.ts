import type { SubscriptionPeriod } from '../config/period.ts'
import { MINUTE_MS } from '../durations.ts'
import type { Rate } from './buckets/token-bucket.ts'
import type { Paid } from './user-meter.ts'

/** A caller whose requests are limited and counted. */
export interface Metered {
  readonly userId: string
  readonly plan: {
    readonly requestsPerMinute: number
    readonly maxKeys: number
    readonly monthlyCap: number
  }
  /** null without a subscription: requests are then counted by calendar month, UTC. */
  readonly paid: (SubscriptionPeriod & Paid) | null
  /** null for a session; all sessions of a user share one rate limit. */
  readonly key: { readonly id: string } | null
}

/** The id of the caller's bucket. */
export function callerId({ userId, key }: Pick<Metered, 'userId' | 'key'>): string {
  return key === null ? `user:${userId}` : key.id
}

/** The size and refill rate of a caller's bucket. */
export function planRate({ requestsPerMinute }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute, windowMs: MINUTE_MS }
}

/** The same for all keys of a user together, so that replacing keys does not give more requests. */
export function userRate({ requestsPerMinute, maxKeys }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute * Math.max(1, maxKeys), windowMs: MINUTE_MS }
}
