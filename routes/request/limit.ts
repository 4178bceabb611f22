import type { Caller } from '../../lib/access/authenticate.ts'
import type { BucketState } from '../../lib/limits/buckets/token-bucket.ts'
import { type CallerState, type Meter, planRate, userRate } from '../../lib/limits/meter.ts'
import { clientId, type Policy, type RateLimiter } from '../../lib/limits/rate-limiter.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Exchange } from './exchange.ts'
import type { Charge } from './limit-headers.ts'

/** What it takes to charge a limit without waiting. */
export type LimitParts = Pick<Services, 'limits' | 'visitors' | 'now'>

/** What it takes to open the meter of a request. */
export interface MeterParts {
  readonly meters: Pick<Services['meters'], 'open'>
}

/** The part of an exchange that is charged. */
type Charged = Pick<Exchange, 'row' | 'caller' | 'client' | 'charge'>

/** Opens the meter of the caller if the operation is charged to the plan. */
export function openMeter({ meters }: MeterParts, { row, caller, now }: Exchange): Meter | null {
  return caller === null || row?.limit !== 'plan' ? null : meters.open(caller, now)
}

/** Charges the limit of the operation. Throws RATE_LIMITED if it is used up. If `mustAsk`, call `chargeOrAsk` instead. */
export function charge(services: LimitParts, exchange: Exchange): void {
  const charged = takeOne(services, exchange)
  if (charged !== null) applyCharge(exchange, charged)
}

/** Whether other nodes must be asked whether the caller has requests left. */
export function mustAsk({ now }: LimitParts, { meter }: Exchange): boolean {
  return meter?.mustAsk(now()) === true
}

/** Like `charge`, but asks the other nodes if it must. */
export async function chargeOrAsk(services: LimitParts, exchange: Exchange): Promise<void> {
  const { caller, meter } = exchange
  if (caller === null || meter === null) return charge(services, exchange)
  const now = services.now()
  const taken = takeOf(findVisitor(services, exchange), now, 1)
  if (taken?.state.allowed === false) return applyCharge(exchange, taken)
  const state = meter.mustAsk(now) ? await meter.takeOrAsk(now) : meter.take(now)
  applyCharge(exchange, settle(caller, state, taken))
}

/** Stores the charge for the headers of the answer. Throws RATE_LIMITED if the limit is used up. */
function applyCharge(exchange: Exchange, charged: Charge): void {
  exchange.charge = charged
  if (!charged.state.allowed) throw rateLimited(charged.state)
}

/** Charges as many requests as the body counts for, instead of the one that `charge` has charged. */
export async function chargeBody(
  services: LimitParts,
  exchange: Exchange,
  body: unknown,
): Promise<void> {
  const { row, caller, meter } = exchange
  if (row?.requestsIn === undefined || caller === null || meter === null) return
  const visitor = findVisitor(services, exchange)
  const requests = Math.min(row.requestsIn(body), visitor?.policy.capacity ?? Infinity)
  const now = services.now()
  visitor?.refund(1)
  const taken = takeOf(visitor, now, requests)
  const isRefused = taken?.state.allowed === false
  // A refused batch takes nothing from the key, or a visitor could use up the key's requests by repeating it.
  const state = await meter.takeInstead(now, isRefused ? 0 : requests)
  applyCharge(exchange, isRefused ? taken : settle(caller, state, taken))
}

/**
 * Takes one request from the limit that applies; null if none does. Reads the clock again, because verifying a
 * session may have taken long, and a limit must not get an earlier time than before.
 */
function takeOne(services: LimitParts, exchange: Exchange): Charge | null {
  const { limits } = services
  const { row, caller, meter } = exchange
  const now = services.now()
  if (caller !== null && meter !== null) {
    const taken = takeOf(findVisitor(services, exchange), now, 1)
    return taken?.state.allowed === false ? taken : settle(caller, meter.take(now), taken)
  }
  if (row?.limit === 'account' && caller !== null) {
    return chargeTo(limits.account, caller.userId, now)
  }
  if (row?.limit === 'beacon') return chargeTo(limits.beacons, addressId(exchange), now)
  if (row?.limit === 'contact') return chargeTo(limits.contact, addressId(exchange), now)
  if (row === undefined || row.limit === 'address') {
    return chargeTo(limits.address, addressId(exchange), now)
  }
  return null
}

/** The bucket of one visitor of the pages that have a publishable key. */
interface Visitor {
  readonly policy: Policy
  readonly take: (now: number, requests: number) => BucketState
  readonly refund: (requests: number) => void
}

/** Returns null for callers without a publishable key. */
function findVisitor({ visitors }: LimitParts, exchange: Charged): Visitor | null {
  const { caller } = exchange
  if (caller?.key?.type !== 'publishable') return null
  const limiter = visitors(caller.plan)
  const id = `${caller.key.id} ${addressId(exchange)}`
  return {
    policy: limiter.policy,
    take: (now, requests) => limiter.take(id, now, requests),
    refund: (requests) => limiter.refund(id, requests),
  }
}

interface VisitorCharge extends Charge {
  readonly undo: () => void
}

function takeOf(visitor: Visitor | null, now: number, requests: number): VisitorCharge | null {
  if (visitor === null) return null
  const { policy, take, refund } = visitor
  return { policy, state: take(now, requests), undo: () => refund(requests) }
}

/**
 * Returns the charge that an answer reports: the one that leaves fewer requests. If the plan refuses, nothing is
 * taken from the visitor.
 */
function settle(caller: Caller, state: CallerState, visitor: VisitorCharge | null): Charge {
  if (!state.allowed) visitor?.undo()
  else if (visitor !== null && visitor.state.remaining < state.remaining) return visitor
  return { policy: planPolicy(caller, state), state }
}

/** Policies by plan. The plan objects never change while the server runs. */
const planPolicies = new WeakMap<Caller['plan'], ReturnType<typeof addPolicies>>()

function planPolicy({ key, plan }: Caller, { ofAllKeys }: CallerState): Policy {
  const policies = planPolicies.get(plan) ?? addPolicies(plan)
  if (ofAllKeys) return policies.allKeys
  return key === null ? policies.user : policies.key
}

function addPolicies(plan: Caller['plan']) {
  const rate = planRate(plan)
  const policies = {
    key: { name: 'per-key', ...rate },
    user: { name: 'per-user', ...rate },
    allKeys: { name: 'all-keys', ...userRate(plan) },
  }
  planPolicies.set(plan, policies)
  return policies
}

function chargeTo(limiter: RateLimiter, id: string, now: number): Charge {
  return { policy: limiter.policy, state: limiter.take(id, now) }
}

/** The id of the client's address for rate limits. */
export function addressId({ client }: Pick<Exchange, 'client'>): string {
  return clientId(client === null ? null : client.address)
}

/**
 * Charges the client's address for a page, or for a request that fails: without a credential (`strangers`) or with
 * a bad one (`failures`). Throws RATE_LIMITED over the limit.
 */
export function chargeAddress(
  { limits, now }: Pick<Services, 'limits' | 'now'>,
  exchange: Exchange,
  limit: 'failures' | 'pages' | 'strangers',
): void {
  applyCharge(exchange, chargeTo(limits[limit], addressId(exchange), now()))
}

/** Charges the client's address for a preflight, which is answered in any case, and logged below the limit. */
export function chargePreflight(
  { limits, now }: Pick<Services, 'limits' | 'now'>,
  exchange: Exchange,
): void {
  exchange.charge = chargeTo(limits.preflights, addressId(exchange), now())
}

/** Charges a user, not the address, which others may share. Throws RATE_LIMITED over the limit. */
export function chargeUser(
  { limits, now }: Services,
  exchange: Exchange,
  limit: 'account' | 'dashboard',
  userId: string,
): void {
  applyCharge(exchange, chargeTo(limits[limit], userId, now()))
}

/**
 * Runs `act` if the second limit of the operation allows the caller one more success. Throws
 * RATE_LIMITED if not.
 */
export async function runWithinSuccessLimit<Reply>(
  services: Pick<Services, 'limits' | 'now'>,
  exchange: Charged,
  act: () => Reply | Promise<Reply>,
): Promise<Reply> {
  const { caller, row } = exchange
  if (row?.successLimit === undefined || caller === null) return act()
  const { successLimit: limit, countsGuesses } = row
  const ids = limit === 'inquiries' ? [caller.userId, addressId(exchange)] : [caller.userId]
  const reservations = ids.map((id) => ({ of: limit, id }))
  const refund = reserve(services, exchange, reservations)
  try {
    return await act()
  } catch (error) {
    const isGuess = error instanceof ApiError && error.code === 'BAD_REQUEST'
    if (countsGuesses !== true || !isGuess) refund(() => true)
    throw error
  }
}

interface Reservation {
  readonly of: keyof Services['limits']
  /** The id of a user, one of lib/access/sign-in/known-devices.ts, or `addressId`. */
  readonly id: string
}

/**
 * Charges all limits before an act, because other requests may arrive while it runs. Throws
 * RATE_LIMITED and charges none if one is used up. Returns a function that refunds some of them.
 */
export function reserve<Some extends Reservation>(
  { limits, now }: Pick<Services, 'limits' | 'now'>,
  exchange: Charged,
  reservations: readonly Some[],
): (shouldRefund: (one: Some) => boolean) => void {
  const taken: Some[] = []
  const refund = (shouldRefund: (one: Some) => boolean) => {
    for (const one of taken.filter(shouldRefund)) limits[one.of].refund(one.id)
  }
  for (const one of reservations) {
    const charged = chargeTo(limits[one.of], one.id, now())
    if (charged.state.allowed) taken.push(one)
    else {
      refund(() => true)
      exchange.charge = charged
      throw rateLimited(charged.state)
    }
  }
  return refund
}

/** Takes one from a limit that a handler knows of. Throws RATE_LIMITED if it is used up. */
export function takeOrRefuse(
  { limits, now }: Pick<Services, 'limits' | 'now'>,
  of: keyof Services['limits'],
  id: string,
): void {
  const state = limits[of].take(id, now())
  if (!state.allowed) throw rateLimited(state)
}

/** The error if too many unknown sessions of one address wait to be looked up. */
export function tooManySessions(): ApiError {
  return rateLimited({ resetSeconds: 1 })
}

function rateLimited({ resetSeconds }: Pick<BucketState, 'resetSeconds'>): ApiError {
  const seconds = Math.max(1, resetSeconds)
  return new ApiError('RATE_LIMITED', `Too many requests; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
