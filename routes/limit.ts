import type { Caller } from '../lib/access/authenticate.ts'
import { ApiError } from '../lib/errors.ts'
import { planRate } from '../lib/limits/meters.ts'
import { clientId, type Policy, type RateLimiter } from '../lib/limits/rate-limiter.ts'
import type { Standing } from '../lib/limits/token-bucket.ts'
import type { Services } from '../lib/services/services.ts'
import type { Charge } from './limit-headers.ts'
import type { Visit } from './visit.ts'

/** Charges the visit to the limit of its row. Throws RATE_LIMITED where that is used up. */
export function charge(services: Services, visit: Visit): void {
  const charged = takeOne(services, visit)
  if (charged === null) return
  visit.charge = charged
  if (!charged.standing.allowed) throw rateLimited(charged.standing)
}

/** Charges what the body weighs, in place of the one request that was charged before it was read. */
export function chargeBody({ meters, now }: Services, visit: Visit, body: unknown): void {
  const { row, caller } = visit
  if (row?.weigh === undefined || caller === null) return
  const standing = meters.takeInstead(caller, now(), row.weigh(body))
  visit.charge = { policy: planPolicy(caller), standing }
  if (!standing.allowed) throw rateLimited(standing)
}

/** Of the moment of charging: a session may have taken long to check, and time must not go back. */
function takeOne({ limits, meters, now: clock }: Services, visit: Visit): Charge | null {
  const { row, caller } = visit
  const now = clock()
  if (row?.limit === 'plan' && caller !== null) {
    return { policy: planPolicy(caller), standing: meters.take(caller, now) }
  }
  if (row?.limit === 'account' && caller !== null) {
    const id = caller.key === null ? `user:${caller.userId}` : caller.key.id
    return chargeTo(limits.account, id, now)
  }
  if (row?.limit === 'beacon') return chargeTo(limits.beacons, addressId(visit), now)
  if (row?.limit === 'contact') return chargeTo(limits.contact, addressId(visit), now)
  if (row === undefined || row.limit === 'address') {
    return chargeTo(limits.address, addressId(visit), now)
  }
  return null
}

interface PlanPolicies {
  readonly key: Policy
  readonly user: Policy
}

/** Plans are the same objects for as long as the server runs. */
const planPolicies = new WeakMap<Caller['plan'], PlanPolicies>()

function planPolicy({ key, plan }: Caller): Policy {
  const policies = planPolicies.get(plan) ?? openPlan(plan)
  return key === null ? policies.user : policies.key
}

function openPlan(plan: Caller['plan']): PlanPolicies {
  const rate = planRate(plan)
  const policies = { key: { name: 'per-key', ...rate }, user: { name: 'per-user', ...rate } }
  planPolicies.set(plan, policies)
  return policies
}

function chargeTo(limiter: RateLimiter, id: string, now: number): Charge {
  return { policy: limiter.policy, standing: limiter.take(id, now) }
}

function addressId({ client }: Visit): string {
  return clientId(client === null ? null : client.address)
}

/** Charges a credential that was not good to the address that sent it. */
export function chargeFailure({ limits, now }: Services, visit: Visit): void {
  visit.charge = chargeTo(limits.failures, addressId(visit), now())
  if (!visit.charge.standing.allowed) throw rateLimited(visit.charge.standing)
}

/** Takes back the charge for a credential that turned out to be good, or cannot be checked. */
export function forgiveFailure({ limits }: Services, visit: Visit): void {
  limits.failures.giveBack(addressId(visit))
}

function rateLimited({ resetSeconds }: Standing): ApiError {
  const seconds = Math.max(1, resetSeconds)
  return new ApiError('RATE_LIMITED', `Too many requests; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
