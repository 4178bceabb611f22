import type { BucketState } from '../../lib/limits/buckets/token-bucket.ts'
import type { Policy } from '../../lib/limits/rate-limiter.ts'
import type { Headers } from './respond.ts'

/** The limit that was charged for a request, and what is left of it. */
export interface Charge {
  readonly policy: Policy
  readonly state: BucketState
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function setLimitHeaders(headers: Headers, { policy, state }: Charge): void {
  headers['ratelimit-policy'] = policyText(policy)
  headers['ratelimit'] = `"${policy.name}";r=${state.remaining};t=${state.resetSeconds}`
}

/** Each policy is formatted only once, because formatting it for each request would take longer. */
const policyTexts = new WeakMap<Policy, string>()

function policyText(policy: Policy): string {
  const known = policyTexts.get(policy)
  if (known !== undefined) return known
  const { name, capacity, windowMs } = policy
  const text = `"${name}";q=${capacity};w=${windowMs / 1000}`
  policyTexts.set(policy, text)
  return text
}
