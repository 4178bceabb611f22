import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type Stripe from 'stripe'
import { findOrAdopt } from './adopt.ts'
import type { Billing } from './billing.ts'
import { listCustomers } from './customers.ts'
import { findSubscription } from './subscriptions.ts'
import { noteOf } from './taken-note.ts'
import { hasUnknownPlan, toSubscriptionRow, USER_FIELD } from './told.ts'

const PAGE = 100

export interface ReconcileOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /** Told of each user for whom it did not work; the others are reconciled all the same. */
  readonly onFailure: (error: unknown, userId: string) => void
  /** Told of a customer with a subscription for a user who is another customer: both may pay. */
  readonly onStranger: (customer: string) => void
  /** Told of a user who pays for a plan whose price is not set, and so has the plan without one. */
  readonly onUnknownPlan: (userId: string) => void
  readonly isStopped: () => boolean
}

/**
 * Compares all subscriptions that the payment processor knows with ours, and takes over what differs:
 * so missed events, and a database from a backup, do no lasting harm. Look-ups go on in between.
 */
export async function reconcile(billing: Billing, options: ReconcileOptions): Promise<void> {
  const told = Map.groupBy(await listTold(billing, options), ({ customer }) => idOf(customer))
  await adoptAll(billing, told, options)
  for (const { userId, customerId } of await listCustomers(billing.db)) {
    await nextTurn()
    if (options.isStopped()) return
    const subscriptions = told.get(customerId) ?? []
    if (hasUnknownPlan(userId, subscriptions, billing)) options.onUnknownPlan(userId)
    try {
      await compare(billing, userId, subscriptions)
    } catch (error) {
      options.onFailure(error, userId)
    }
  }
}

/** All that have not ended. Each page has its own time limit. */
async function listTold(
  billing: Billing,
  { isStopped }: ReconcileOptions,
): Promise<Stripe.Subscription[]> {
  const all: Stripe.Subscription[] = []
  let last: string | undefined
  for (;;) {
    const after = last === undefined ? {} : { starting_after: last }
    const { data, has_more } = await billing
      .begin()
      .read((stripe, options) => stripe.subscriptions.list({ limit: PAGE, ...after }, options))
    all.push(...data)
    last = data.at(-1)?.id
    if (!has_more || last === undefined || isStopped()) return all
  }
}

type Told = ReadonlyMap<string, readonly Stripe.Subscription[]>

async function adoptAll(
  billing: Billing,
  told: Told,
  { now, onStranger }: ReconcileOptions,
): Promise<void> {
  for (const [customer, subscriptions] of told) {
    await nextTurn()
    const user = subscriptions.map(({ metadata }) => metadata[USER_FIELD]).find(Boolean) ?? null
    const adopted = await findOrAdopt(billing, { customer, user }, now)
    if (adopted === null && user !== null) onStranger(customer)
  }
}

/** Asks again only for what differs: between the list and now it may have changed. */
async function compare(
  billing: Billing,
  userId: string,
  told: readonly Stripe.Subscription[],
): Promise<void> {
  const ours = await findSubscription(billing.db, userId)
  if (isDeepStrictEqual(ours, toSubscriptionRow(userId, told, billing))) return
  const calls = billing.begin()
  await billing.inTurn(userId, () =>
    billing.sync(calls, userId, (taken) => {
      const note = noteOf(taken)
      return note === null ? [] : [billing.auditTold(userId, note)]
    }),
  )
}

function idOf(customer: Stripe.Subscription['customer']): string {
  return typeof customer === 'string' ? customer : customer.id
}
