import type Stripe from 'stripe'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/unit.ts'
import { type CustomerRow, deleteCustomer, findCustomer, takeTurn } from './customers.ts'
import { deletePreview } from './plan-previews.ts'
import { isMissing, type StripeCalls } from './stripe-calls.ts'
import {
  deleteSubscription,
  findSubscription,
  type SubscriptionRow,
  saveSubscription,
} from './subscriptions.ts'
import { type Catalogue, hasUnknownPlan, toSubscriptionRow } from './told.ts'

export interface SyncOptions {
  readonly db: Db
  readonly catalogue: Catalogue
  /** Runs statements in one transaction, after which the next request meets what they changed. */
  readonly change: (statements: [Statement, ...Statement[]]) => Promise<boolean>
}

/** What a user's subscription was before and is after something was taken over. */
export interface Taken {
  readonly before: SubscriptionRow | null
  readonly after: SubscriptionRow | null
  /** Whether the user pays for a plan that is not known here, as where its price is not set. */
  readonly paysForUnknown: boolean
}

/**
 * Asks the payment processor for the subscription of the user and takes it over, together with the
 * statements that `beside` returns: all of it or nothing. What another answer has overtaken while
 * we asked is thrown away and asked for again, so that the order of events does not matter.
 */
export type Sync = (
  calls: StripeCalls,
  userId: string,
  beside?: (taken: Taken) => readonly Statement[],
) => Promise<Taken>

const ATTEMPTS = 20

export function createSync({ db, catalogue, change }: SyncOptions): Sync {
  const attempt = async (calls: StripeCalls, customer: CustomerRow) => {
    const told = await askFor(calls, customer.customerId)
    const before = await findSubscription(db, customer.userId)
    if (told === null) {
      const statements = [deleteCustomer(db, customer)]
      return { before, after: null, paysForUnknown: false, statements }
    }
    const { userId } = customer
    const after = toSubscriptionRow(userId, told, catalogue)
    const paysForUnknown = hasUnknownPlan(userId, told, catalogue)
    const statements = [
      takeTurn(db, customer),
      after === null ? deleteSubscription(db, userId) : saveSubscription(db, after),
      ...(isSameItem(before, after) ? [] : [deletePreview(db, userId)]),
    ]
    return { before, after, paysForUnknown, statements }
  }
  return async (calls, userId, beside = () => []) => {
    for (let attempts = 1; attempts <= ATTEMPTS; attempts++) {
      const customer = await findCustomer(db, userId)
      if (customer === null) return { before: null, after: null, paysForUnknown: false }
      const { statements, ...taken } = await attempt(calls, customer)
      const [first, ...rest] = [...statements, ...beside(taken)]
      if (first !== undefined && (await change([first, ...rest]))) return taken
    }
    throw new Error(`The subscription of user ${userId} changes faster than it can be read`)
  }
}

/** A preview holds for what it was made of. */
function isSameItem(before: SubscriptionRow | null, after: SubscriptionRow | null): boolean {
  return before?.itemId === after?.itemId && before?.plan === after?.plan
}

/** All subscriptions of the customer that have not ended; null: the customer was deleted. */
async function askFor(
  calls: StripeCalls,
  customerId: string,
): Promise<readonly Stripe.Subscription[] | null> {
  try {
    const customer = await calls.read((stripe, options) =>
      stripe.customers.retrieve(customerId, { expand: ['subscriptions'] }, options),
    )
    return customer.deleted ? null : (customer.subscriptions?.data ?? [])
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
