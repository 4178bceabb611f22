import type { Policy } from '../lib/limits/rate-limiter.ts'
import type { Standing } from '../lib/limits/token-bucket.ts'
import type { Headers } from './respond.ts'

/** The limit that a request was charged to, and what is left of it. */
export interface Charge {
  readonly policy: Policy
  readonly standing: Standing
}

/** Tells of the limit in the syntax of draft-ietf-httpapi-ratelimit-headers-10. */
export function setLimitHeaders(headers: Headers, { policy, standing }: Charge): void {
  const { name, capacity, windowMs } = policy
  headers['ratelimit-policy'] = `"${name}";q=${capacity};w=${windowMs / 1000}`
  headers['ratelimit'] = `"${name}";r=${standing.remaining};t=${standing.resetSeconds}`
}
