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
  headers['ratelimit-policy'] = policyText(policy)
  headers['ratelimit'] = `"${policy.name}";r=${standing.remaining};t=${standing.resetSeconds}`
}

/** The same for every request: it is found sooner than written. */
const policyTexts = new WeakMap<Policy, string>()

function policyText(policy: Policy): string {
  const known = policyTexts.get(policy)
  if (known !== undefined) return known
  const { name, capacity, windowMs } = policy
  const text = `"${name}";q=${capacity};w=${windowMs / 1000}`
  policyTexts.set(policy, text)
  return text
}
