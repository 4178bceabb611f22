import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { billingCustomers } from '../../db/billing-tables.ts'
import { asc } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Billing } from '../billing.ts'
import { listAllSubscriptions } from '../mirror/list-subscriptions.ts'
import { findStripeAccount, saveStripeAccount } from '../mirror/stripe-account.ts'
import { findUserInMetadata } from '../mirror/user-in-metadata.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'
import {
  type CustomerRow,
  findOrAssign,
  listCustomers,
  UnknownCustomer,
} from '../subscription/customers.ts'
import { listDuplicates } from '../subscription/duplicate-rows.ts'
import { type MirrorRows, toMirrorRows } from '../subscription/mirror-rows.ts'
import { findSubscription } from '../subscription/subscriptions.ts'
import { auditSync, sync } from '../subscription/sync.ts'

/** How many customers we look for at Stripe: some may have been deleted with an account's test data. */
const SAMPLE = 5

export interface ReconcileOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /** Called for each user whose subscription could not be compared; the run continues. */
  readonly onFailure: (error: unknown, userId: string) => void
  readonly isStopped: () => boolean
}

/** Findings for the operator. None of them has changed anybody's plan. */
export interface ReconcileFindings {
  /** Customers that cannot be stored: their users have another customer, or are deleted. */
  readonly unassigned: string[]
  /** Our customers that Stripe does not know. */
  readonly missing: string[]
  /** Prices that belong to no plan in the settings, each with the users who pay it. */
  readonly unknownPrices: Map<string, string[]>
}

/**
 * Compares all subscriptions at Stripe with ours, and syncs those that differ. This repairs the effects
 * of missed events and restored backups. It pauses after each customer, so that requests do not wait.
 * Throws WrongStripeAccount, and changes nothing, if the key is of another account.
 */
export async function reconcile(
  billing: Billing,
  options: ReconcileOptions,
): Promise<ReconcileFindings> {
  const findings: ReconcileFindings = { unassigned: [], missing: [], unknownPrices: new Map() }
  await learnStripeAccount(billing)
  const byCustomer = await listAllSubscriptions(billing, options.isStopped)
  await assignAll(billing, byCustomer, options, findings)
  for (const customer of await listCustomers(billing.db)) {
    await nextTurn()
    if (options.isStopped()) return findings
    const subscriptions = byCustomer.get(customer.customerId) ?? []
    try {
      noteUnknownPrices(findings, customer, await compare(billing, customer, subscriptions))
    } catch (error) {
      if (error instanceof UnknownCustomer) findings.missing.push(customer.customerId)
      else options.onFailure(error, customer.userId)
    }
  }
  return findings
}

function noteUnknownPrices(
  { unknownPrices: payers }: ReconcileFindings,
  { userId }: CustomerRow,
  { unknownPrices }: MirrorRows,
): void {
  for (const price of new Set(unknownPrices)) {
    payers.set(price, [...(payers.get(price) ?? []), userId])
  }
}

async function assignAll(
  billing: Billing,
  byCustomer: ReadonlyMap<string, readonly StripeSubscription[]>,
  { now }: ReconcileOptions,
  { unassigned }: ReconcileFindings,
): Promise<void> {
  for (const [customer, subscriptions] of byCustomer) {
    await nextTurn()
    const user = findUserInMetadata(subscriptions)
    const userId = await findOrAssign(billing, { customer, user }, now)
    if (userId === null && user !== null) unassigned.push(customer)
  }
}

/** If the subscription differs, reads it again: it may have changed since it was listed. */
async function compare(
  billing: Billing,
  { userId }: CustomerRow,
  subscriptions: readonly StripeSubscription[],
): Promise<MirrorRows> {
  const before = await findSubscription(billing.db, userId)
  const duplicates = await listDuplicates(billing.db, userId)
  const rows = toMirrorRows(userId, { before, duplicates }, subscriptions, billing)
  const isSame = isDeepStrictEqual([before, duplicates], [rows.row, rows.duplicates])
  if (isSame) return rows
  const stripe = billing.openStripe()
  await billing.enqueue(userId, () =>
    sync(billing, stripe, userId, (result) => auditSync(billing, userId, result)),
  )
  return rows
}

/**
 * Stores the account of the key once we know that it has one of our oldest customers. A later start with
 * the key of another account then changes nothing. Throws WrongStripeAccount if this is such a start.
 */
async function learnStripeAccount(billing: Billing): Promise<void> {
  await billing.requireStripeAccount()
  const known = await findStripeAccount(billing.db)
  if (known !== null && known.account !== null) return
  const account = await billing.readStripeAccount()
  if (known !== null && account.account === null) return
  const stripe = billing.openStripe()
  for (const customerId of await listOldest(billing.db)) {
    if (!(await stripe.hasCustomer(customerId))) continue
    await billing.change([saveStripeAccount(billing.db, account)])
    return
  }
}

async function listOldest(db: Db): Promise<string[]> {
  const { customerId, createdAt } = billingCustomers
  const rows = await db
    .select({ customerId })
    .from(billingCustomers)
    .orderBy(asc(createdAt))
    .limit(SAMPLE)
    .all()
  return rows.map((row) => row.customerId)
}
