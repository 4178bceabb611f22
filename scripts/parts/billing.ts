import { alignKeyExpiry } from '../../lib/access/key-expiry.ts'
import { type Billing, createBilling } from '../../lib/billing/billing.ts'
import { inspect, type Mismatch } from '../../lib/billing/mirror/inspect.ts'
import { acceptStripeAccount, repair } from '../../lib/billing/mirror/repair.ts'
import type { StripeConfig } from '../../lib/config/config.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { type Accounts, audit } from './accounts.ts'
import { jsonText } from './json-text.ts'
import { report } from './run.ts'
import { textTable } from './text-table.ts'

/** Billing for a command. Its changes have the app `cli` in the audit log. */
export function openBilling(accounts: Accounts, stripe: StripeConfig): Billing {
  const { db, plans, now } = accounts
  return createBilling({
    db,
    plans,
    stripe,
    change: (statements) => runInTransaction(db, statements),
    alignKeyExpiry: (userId) => alignKeyExpiry(db, plans, now, userId),
    auditStripe: (userId, note) => audit(accounts, userId, note),
    // Used only for changes of plan, which no command makes.
    countRequests: async () => 0,
    onFailure: ({ type, code, status }) =>
      report(`Stripe refused a call: ${[type, code, status].filter(Boolean).join(', ')}`),
  })
}

/** Throws if Stripe is not configured. */
export function requireStripe({ secretKey }: StripeConfig): void {
  if (secretKey === undefined) throw new Error('STRIPE_SECRET_KEY is not set')
}

/** All mismatches as a table, or as JSON. */
export async function listMismatches(billing: Billing, format: 'json' | 'table'): Promise<string> {
  const found = await inspect(billing)
  if (format === 'json') return jsonText(found)
  return found.length === 0 ? 'The database agrees with Stripe\n' : mismatchTable(found)
}

function mismatchTable(mismatches: readonly Mismatch[]): string {
  return textTable(mismatches, {
    Kind: ({ kind }) => kind,
    User: ({ user }) => user ?? '',
    Customer: ({ customer }) => customer ?? '',
    Detail: ({ detail }) => detail,
    Repair: ({ repair: how }) => how ?? '',
  })
}

/** Repairs what can be repaired. Returns a sentence for each change. */
export async function repairMismatches(
  billing: Billing,
  accounts: Accounts,
  account: 'keep' | 'accept',
): Promise<string[]> {
  const options = {
    now: accounts.now,
    audit: (...about: [userId: string, note: Parameters<typeof audit>[2]]) => [
      audit(accounts, ...about),
    ],
  }
  const released = account === 'accept' ? await acceptStripeAccount(billing, options) : []
  const repaired = await repair(billing, await inspect(billing), options)
  return [
    ...released.map((customer) => `Released the customer ${customer}, which Stripe does not know`),
    ...repaired.map(sentence),
  ]
}

function sentence({ repair: how, customer, user }: Mismatch): string {
  if (how === 'assign') return `Assigned the customer ${customer} to the user ${user}`
  return `Read the subscription of the user ${user} again`
}
