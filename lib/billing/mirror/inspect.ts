import { isDeepStrictEqual } from 'node:util'
import { eq } from '../../db/drizzle.ts'
import { users } from '../../db/tables.ts'
import type { Billing } from '../billing.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'
import { type CustomerRow, listCustomers } from '../subscription/customers.ts'
import { listDuplicates } from '../subscription/duplicate-rows.ts'
import { toMirrorRows } from '../subscription/mirror-rows.ts'
import { findSubscription, type SubscriptionRow } from '../subscription/subscriptions.ts'
import { listAllSubscriptions } from './list-subscriptions.ts'
import { WrongStripeAccount } from './stripe-account.ts'
import { findUserInMetadata } from './user-in-metadata.ts'

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
  readonly user: string | null
  readonly customer: string | null
  readonly detail: string
  /** What `repair` does about it; null: nothing. */
  readonly repair: 'assign' | 'resync' | null
}

type Subscriptions = ReadonlyMap<string, readonly StripeSubscription[]>

/** Compares everything and changes nothing. If the key is of another account, reports only that. */
export async function inspect(billing: Billing): Promise<Mismatch[]> {
  try {
    await billing.requireStripeAccount()
  } catch (error) {
    if (!(error instanceof WrongStripeAccount)) throw error
    const detail = `the key belongs to ${error.found}, the customers to ${error.expected}`
    return [{ kind: 'wrong-account', user: null, customer: null, detail, repair: null }]
  }
  const byCustomer = await listAllSubscriptions(billing)
  const stored = await listCustomers(billing.db)
  const found: Mismatch[] = []
  const payers = new Map<string, string[]>()
  for (const customer of stored) {
    const subscriptions = byCustomer.get(customer.customerId) ?? []
    found.push(...(await inspectCustomer(billing, customer, { subscriptions, payers })))
  }
  for (const [price, [first = '', ...others]] of payers) {
    const detail = `${price} belongs to no plan here; users who pay it: ${1 + others.length}`
    found.push({ kind: 'unknown-price', user: first, customer: null, detail, repair: null })
  }
  return [...found, ...(await inspectUnknownCustomers(billing, stored, byCustomer))]
}

interface Context {
  readonly subscriptions: readonly StripeSubscription[]
  /** The users who pay each price that no plan has; `inspectCustomer` adds to it. */
  readonly payers: Map<string, string[]>
}

async function inspectCustomer(
  billing: Billing,
  { userId, customerId }: CustomerRow,
  { subscriptions, payers }: Context,
): Promise<Mismatch[]> {
  const about = { user: userId, customer: customerId }
  const before = await findSubscription(billing.db, userId)
  const duplicates = await listDuplicates(billing.db, userId)
  const rows = toMirrorRows(userId, { before, duplicates }, subscriptions, billing)
  for (const price of new Set(rows.unknownPrices)) {
    payers.set(price, [...(payers.get(price) ?? []), userId])
  }
  const found: Mismatch[] = rows.duplicates.map(({ id, plan }) => {
    const detail = `pays ${plan} by ${id} besides ${planOf(rows.row)} by ${rows.row?.id}`
    return { kind: 'duplicate', ...about, detail, repair: null }
  })
  if (isDeepStrictEqual([before, duplicates], [rows.row, rows.duplicates])) return found
  const isUnlisted = subscriptions.length === 0
  if (isUnlisted && !(await billing.openStripe().hasCustomer(customerId))) {
    const detail = `Stripe does not know the customer; keeps ${planOf(before)}`
    return [{ kind: 'missing-customer', ...about, detail, repair: null }]
  }
  const detail = `${planOf(before)} here, ${planOf(rows.row)} at Stripe`
  return [...found, { kind: 'outdated', ...about, detail, repair: 'resync' }]
}

function planOf(row: SubscriptionRow | null): string {
  return row?.plan ?? 'no plan'
}

/** Finds customers who pay at Stripe for one of our users, but are not stored here. */
async function inspectUnknownCustomers(
  billing: Billing,
  stored: readonly CustomerRow[],
  byCustomer: Subscriptions,
): Promise<Mismatch[]> {
  const known = new Set(stored.map(({ customerId }) => customerId))
  const customerOf = new Map(stored.map((row) => [row.userId, row.customerId]))
  const found: Mismatch[] = []
  for (const [customer, subscriptions] of byCustomer) {
    const user = findUserInMetadata(subscriptions)
    if (known.has(customer) || user === null) continue
    const other = customerOf.get(user)
    const what =
      other === undefined
        ? await inspectUser(billing, user)
        : toOtherCustomer(other, byCustomer.has(other) ? 'pays' : 'pays nothing')
    found.push({ user, customer, ...what })
  }
  return found
}

type CustomerMismatch = Pick<Mismatch, 'kind' | 'detail' | 'repair'>

async function inspectUser(billing: Billing, user: string): Promise<CustomerMismatch> {
  if (await hasUser(billing, user)) {
    const detail = 'belongs to no user here'
    return { kind: 'unassigned-customer', detail, repair: 'assign' }
  }
  const detail = 'pays for a user who does not exist here'
  return { kind: 'unknown-user', detail, repair: null }
}

/** A stored customer that pays nothing can be replaced. */
function toOtherCustomer(stored: string, state: 'pays' | 'pays nothing'): CustomerMismatch {
  const detail = `the user's customer here is ${stored}, which ${state}`
  return { kind: 'other-customer', detail, repair: state === 'pays' ? null : 'assign' }
}

async function hasUser({ db }: Billing, id: string): Promise<boolean> {
  const row = await db.select({ id: users.id }).from(users).where(eq(users.id, id)).get()
  return row !== undefined
}
