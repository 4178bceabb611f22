import { billingOwner } from '../../db/billing-tables.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'
import { BillingUnavailable } from '../stripe/stripe-refusal.ts'

/** The account and mode at Stripe that a key or our customers belong to. */
export interface StripeAccount {
  /** null: the key may not read it. */
  readonly account: string | null
  readonly mode: 'live' | 'test'
}

/** The key belongs to another account or mode than our customers. */
export class WrongStripeAccount extends BillingUnavailable {
  readonly expected: string
  readonly found: string

  constructor(expected: StripeAccount, found: StripeAccount) {
    super()
    this.expected = nameOf(expected)
    this.found = nameOf(found)
  }
}

/** Returns null until the account is known to have one of our customers. */
export async function findStripeAccount(db: Db): Promise<StripeAccount | null> {
  return (await db.select().from(billingOwner).get()) ?? null
}

export function saveStripeAccount(db: Db, { account, mode }: StripeAccount): Statement {
  const row = { id: 1, account, mode }
  return db
    .insert(billingOwner)
    .values(row)
    .onConflictDoUpdate({ target: billingOwner.id, set: row })
}

/** Accounts are compared only if both are known. */
export function isSameStripeAccount(one: StripeAccount, other: StripeAccount): boolean {
  if (one.mode !== other.mode) return false
  return one.account === null || other.account === null || one.account === other.account
}

/** Such as `acct_1 in live mode`. */
function nameOf({ account, mode }: StripeAccount): string {
  return `${account ?? 'an account'} in ${mode} mode`
}
