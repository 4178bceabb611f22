import type { Caller } from '../lib/access/authenticate.ts'
import { ApiError } from '../lib/errors.ts'
import { planRate } from '../lib/limits/meters.ts'
import { clientId, type Policy, type RateLimiter } from '../lib/limits/rate-limiter.ts'
import type { Standing } from '../lib/limits/token-bucket.ts'
import type { Services } from '../lib/services.ts'
import type { Headers } from './respond.ts'
import type { Visit } from './visit.ts'

/** The limit that a request was charged to, and what is left of it. */
export interface Charge {
  readonly policy: Policy
  readonly standing: Standing
}

/** Charges the visit to the limit of its row. Throws RATE_LIMITED where that is used up. */
export function charge(services: Services, visit: Visit): void {
  const charged = takeOne(services, visit)
  if (charged === null) return
  visit.charge = charged
  if (!charged.standing.allowed) throw rateLimited(charged.standing)
}

function takeOne({ limits, meters }: Services, visit: Visit): Charge | null {
  const { row, caller, now } = visit
  if (row?.limit === 'plan' && caller !== null) {
    return { policy: planPolicy(caller), standing: meters.take(caller, now) }
  }
  if (row?.limit === 'account' && caller !== null) {
    const id = caller.key === null ? `user:${caller.userId}` : caller.key.id
    return chargeTo(limits.account, id, now)
  }
  if (row?.limit === 'beacon') return chargeTo(limits.beacons, addressId(visit), now)
  if (row === undefined || row.limit === 'address') {
    return chargeTo(limits.address, addressId(visit), now)
  }
  return null
}

function planPolicy({ key, plan }: Caller): Policy {
  return { name: key === null ? 'per-user' : 'per-key', ...planRate(plan) }
}

function chargeTo(limiter: RateLimiter, id: string, now: number): Charge {
  return { policy: limiter.policy, standing: limiter.take(id, now) }
}

function addressId({ client }: Visit): string {
  return clientId(client === null ? null : client.address)
}

/** Charges a credential that was not good to the address that sent it. */
export function chargeFailure({ limits }: Services, visit: Visit): void {
  visit.charge = chargeTo(limits.failures, addressId(visit), visit.now)
  if (!visit.charge.standing.allowed) throw rateLimited(visit.charge.standing)
}

/** Throws RATE_LIMITED where the address has sent too many bad credentials to check another one. */
export function refuseAfterFailures({ limits }: Services, visit: Visit): void {
  const standing = limits.failures.look(addressId(visit), visit.now)
  if (standing.allowed) return
  visit.charge = { policy: limits.failures.policy, standing }
  throw rateLimited(standing)
}

function rateLimited({ resetSeconds }: Standing): ApiError {
  const seconds = Math.max(1, resetSeconds)
  return new ApiError('RATE_LIMITED', `Too many requests; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** Tells of the limit in the syntax of draft-ietf-httpapi-ratelimit-headers-10. */
export function setLimitHeaders(headers: Headers, { policy, standing }: Charge): void {
  const { name, capacity, windowMs } = policy
  headers['ratelimit-policy'] = `"${name}";q=${capacity};w=${windowMs / 1000}`
  headers['ratelimit'] = `"${name}";r=${standing.remaining};t=${standing.resetSeconds}`
}
