import { createHmac } from 'node:crypto'
import { trials, triedAddresses } from '../../db/billing-tables.ts'
import { eq } from '../../db/drizzle.ts'
import { users } from '../../db/tables.ts'
import type { Statement } from '../../db/transaction.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'

/** Whether the user, or an earlier one with the same address, has had a trial of any plan. */
export async function hasTried(billing: Billing, userId: string): Promise<boolean> {
  const { db } = billing
  const row = await db.select().from(trials).where(eq(trials.userId, userId)).get()
  if (row !== undefined) return true
  const hash = await hashOf(billing, userId)
  if (hash === null) return false
  const known = await db.select().from(triedAddresses).where(eq(triedAddresses.hash, hash)).get()
  return known !== undefined
}

/** Stores the trials of these subscriptions, for good. */
export async function insertTrials(
  billing: Billing,
  userId: string,
  subscriptions: readonly Stripe.Subscription[],
): Promise<Statement[]> {
  const { db } = billing
  const tried = subscriptions.filter(({ trial_end }) => trial_end !== null)
  if (tried.length === 0) return []
  const startedAt = Math.min(...tried.map(({ created }) => created)) * SECOND_MS
  const trial = db.insert(trials).values({ userId, startedAt }).onConflictDoNothing()
  return [trial, ...(await insertAddress(billing, userId, startedAt))]
}

/** Remembers the address that the user has now, before the account is deleted, if there was a trial. */
export async function rememberTrial(billing: Billing, userId: string): Promise<void> {
  const { db } = billing
  const trial = await db.select().from(trials).where(eq(trials.userId, userId)).get()
  if (trial === undefined) return
  for (const statement of await insertAddress(billing, userId, trial.startedAt)) {
    await statement.run()
  }
}

async function insertAddress(billing: Billing, userId: string, firstAt: number) {
  const hash = await hashOf(billing, userId)
  if (hash === null) return []
  return [billing.db.insert(triedAddresses).values({ hash, firstAt }).onConflictDoNothing()]
}

async function hashOf({ db, addressKey }: Billing, userId: string): Promise<string | null> {
  const isUser = eq(users.id, userId)
  const user = await db.select({ email: users.email }).from(users).where(isUser).get()
  if (user === undefined) return null
  return createHmac('sha256', await addressKey())
    .update(toMailbox(user.email))
    .digest('hex')
}

/** The domains of Gmail, which are one, and which ignores dots in names. */
const WITHOUT_DOTS = ['gmail.com', 'googlemail.com']

/**
 * The mailbox that most likely gets what is sent to the address: in lower case, without a subaddress
 * (`+shop`, RFC 5233), and at Gmail without dots. If that is wrong, somebody pays without a trial. Other
 * providers tell dots apart, so there they stay.
 */
export function toMailbox(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1).toLowerCase()
  const [name = ''] = email
    .slice(0, at)
    .toLowerCase()
    .split(/(?<=.)\+/, 1)
  return WITHOUT_DOTS.includes(domain)
    ? `${name.replaceAll('.', '')}@gmail.com`
    : `${name}@${domain}`
}
