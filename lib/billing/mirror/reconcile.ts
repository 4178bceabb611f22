import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { eq } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { users } from '../../db/tables.ts'
import type { Billing } from '../billing.ts'
import { compareMeter } from '../overages/meter.ts'
import { hasCustomer } from '../stripe/customers.ts'
import { userOf } from '../stripe/metadata.ts'
import { eachOf, idOf, type Stripe } from '../stripe/stripe-calls.ts'
import { type CustomerRow, findOrAssign, listCustomers } from '../subscription/customers.ts'
import { toMirrorRows } from '../subscription/mirror-rows.ts'
import { findSubscription, type SubscriptionRow } from '../subscription/subscriptions.ts'
import { resync } from '../subscription/sync.ts'
import { learnStripeAccount } from './learn-account.ts'
import { WrongStripeAccount } from './stripe-account.ts'

export interface ReconcileOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /** `compare` changes nothing. */
  readonly mode: 'compare' | 'repair'
  /** Called for each user whose subscription could not be compared; the run continues. */
  readonly onFailure: (error: unknown, userId: string) => void
  readonly isStopped?: () => boolean
}

/** A difference between our database and Stripe, or something that users pay for and settings lack. */
export interface Mismatch {
  readonly kind:
    | 'wrong-account'
    | 'missing-customer'
    | 'unknown-price'
    | 'unknown-user'
    | 'unassigned-customer'
    | 'other-customer'
    | 'duplicate'
    | 'outdated'
    | 'usage'
  readonly user: string | null
  readonly customer: string | null
  readonly detail: string
}

/** The kinds that a repair ends. The others need the operator; none of them has changed anybody's plan. */
export const REPAIRABLE: readonly Mismatch['kind'][] = ['unassigned-customer', 'outdated']

/**
 * Compares all subscriptions at Stripe with ours and returns the differences. To repair is to assign customers
 * that we lack and to sync the subscriptions that differ: the effects of missed events and restored backups. It
 * pauses after each customer, so that requests do not wait. If the key is of another account, reports only that.
 */
export async function reconcile(billing: Billing, options: ReconcileOptions): Promise<Mismatch[]> {
  const { now, mode, onFailure, isStopped = () => false } = options
  try {
    await (mode === 'repair' ? learnStripeAccount(billing) : billing.requireStripeAccount())
  } catch (error) {
    if (!(error instanceof WrongStripeAccount)) throw error
    const detail = `the key belongs to ${error.found}, the customers to ${error.expected}`
    return [{ kind: 'wrong-account', user: null, customer: null, detail }]
  }
  const byCustomer = await listAllSubscriptions(billing, isStopped)
  const stored = await listCustomers(billing.db)
  const found = await assignAll(billing, { stored, byCustomer }, options)
  const payers = new Map<string, string[]>()
  for (const customer of stored) {
    await nextTurn()
    if (isStopped()) break
    const subscriptions = byCustomer.get(customer.customerId) ?? []
    try {
      found.push(...(await compare(billing, customer, { subscriptions, payers, mode })))
    } catch (error) {
      onFailure(error, customer.userId)
    }
  }
  const differences = await compareMeter(billing, now, onFailure)
  found.push(...differences.map((one) => ({ kind: 'usage' as const, ...one })))
  return [...found, ...[...payers].map(toUnknownPrice)]
}

/** All subscriptions that are not canceled, by customer. Each page has its own time limit. */
async function listAllSubscriptions(
  billing: Billing,
  isStopped: () => boolean,
): Promise<Map<string, Stripe.Subscription[]>> {
  const all: Stripe.Subscription[] = []
  const expand = ['data.customer']
  const listed = eachOf((page) => billing.openStripe().subscriptions.list({ expand, ...page }))
  for await (const one of listed) {
    if (isStopped()) break
    all.push(one)
  }
  return Map.groupBy(all, ({ customer }) => idOf(customer))
}

function toUnknownPrice([price, payers]: [string, string[]]): Mismatch {
  const detail = `${price} belongs to no plan here; users who pay it: ${payers.length}`
  return { kind: 'unknown-price', user: payers[0] ?? null, customer: null, detail }
}

interface Listed {
  readonly stored: readonly CustomerRow[]
  readonly byCustomer: ReadonlyMap<string, readonly Stripe.Subscription[]>
}

/** Finds customers who pay at Stripe for one of our users, but are not stored here. */
async function assignAll(
  billing: Billing,
  { stored, byCustomer }: Listed,
  { now, mode, onFailure }: ReconcileOptions,
): Promise<Mismatch[]> {
  const known = new Set(stored.map(({ customerId }) => customerId))
  const customerOf = new Map(stored.map((row) => [row.userId, row.customerId]))
  const found: Mismatch[] = []
  for (const [customer, subscriptions] of byCustomer) {
    await nextTurn()
    const user = findUserInMetadata(subscriptions)
    if (known.has(customer) || user === null) continue
    const what = await inspectUser(billing.db, user, customerOf.get(user))
    found.push({ user, customer, ...what })
    if (mode === 'compare') continue
    const owner = await findOrAssign(billing, { customer, user }, now)
    if (owner !== null) await resync(billing, owner).catch((error) => onFailure(error, owner))
  }
  return found
}

async function inspectUser(
  db: Db,
  user: string,
  stored: string | undefined,
): Promise<Pick<Mismatch, 'kind' | 'detail'>> {
  if (stored !== undefined) {
    return { kind: 'other-customer', detail: `the user's customer here is ${stored}` }
  }
  const isOurs = await db.select({ id: users.id }).from(users).where(eq(users.id, user)).get()
  return isOurs === undefined
    ? { kind: 'unknown-user', detail: 'pays for a user who does not exist here' }
    : { kind: 'unassigned-customer', detail: 'belongs to no user here' }
}

/** The user that our metadata of a subscription names, or else that of the customer. */
function findUserInMetadata(subscriptions: readonly Stripe.Subscription[]): string | null {
  const customers = subscriptions.flatMap(({ customer }) =>
    typeof customer === 'string' || customer.deleted ? [] : customer,
  )
  return [...subscriptions, ...customers].map(userOf).find((id) => id !== null) ?? null
}

interface Context extends Pick<ReconcileOptions, 'mode'> {
  readonly subscriptions: readonly Stripe.Subscription[]
  /** The users who pay each price that no plan has; `compare` adds to it. */
  readonly payers: Map<string, string[]>
}

/** If the subscription differs, a repair reads it again: it may have changed since it was listed. */
async function compare(
  billing: Billing,
  { userId, customerId }: CustomerRow,
  { subscriptions, payers, mode }: Context,
): Promise<Mismatch[]> {
  const before = await findSubscription(billing.db, userId)
  const mirrored = toMirrorRows(userId, before, subscriptions, billing)
  const { row, unknownPrices, duplicates, hasOwnMethod } = mirrored
  for (const price of new Set(unknownPrices)) {
    payers.set(price, [...(payers.get(price) ?? []), userId])
  }
  const about = { user: userId, customer: customerId }
  const found: Mismatch[] = duplicates.map((id) => {
    return { kind: 'duplicate', ...about, detail: `pays for ${id} besides ${row?.id}` }
  })
  if (isDeepStrictEqual(before, row)) {
    if (mode === 'repair' && hasOwnMethod) await resync(billing, userId)
    return found
  }
  if (subscriptions.length === 0 && !(await hasCustomer(billing.openStripe(), customerId))) {
    const detail = `Stripe does not know the customer; keeps ${planOf(before)}`
    return [{ kind: 'missing-customer', ...about, detail }]
  }
  if (mode === 'repair') await resync(billing, userId)
  const detail = `${planOf(before)} here, ${planOf(row)} at Stripe`
  return [...found, { kind: 'outdated', ...about, detail }]
}

function planOf(row: SubscriptionRow | null): string {
  return row?.plan ?? 'no plan'
}
