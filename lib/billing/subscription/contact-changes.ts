import { billingCustomers, contactChanges } from '../../db/billing-tables.ts'
import { and, eq } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { users } from '../../db/tables.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import { StripeRefusal } from '../stripe/stripe-refusal.ts'

/**
 * Returns a function that sends e-mail addresses and names that changed here to Stripe. A trigger on
 * `users` records every change, however it was made. A change that Stripe refuses goes to `onRefused`
 * once, and is tried again after the next start. Other failures throw.
 */
export function createContactSender(
  billing: Billing,
  onRefused: (userId: string) => void,
): () => Promise<void> {
  const refused = new Set<string>()
  const send = async (change: Change) => {
    try {
      await billing.openStripe().customers.update(change.customerId, toContact(change))
      await billing.change([removeChange(billing.db, change)])
    } catch (error) {
      if (!(error instanceof StripeRefusal)) throw error
      refused.add(versionOf(change))
      onRefused(change.userId)
    }
  }
  return async () => {
    for (const change of await listChanges(billing.db)) {
      if (refused.has(versionOf(change))) continue
      await billing.enqueue(change.userId, () => send(change))
    }
  }
}

function versionOf({ userId, emails, names }: Change): string {
  return `${userId} ${emails} ${names}`
}

type Change = Awaited<ReturnType<typeof listChanges>>[number]

async function listChanges(db: Db) {
  const { userId, emails, names } = contactChanges
  const { customerId } = billingCustomers
  return db
    .select({ userId, emails, names, customerId, email: users.email, name: users.name })
    .from(contactChanges)
    .innerJoin(billingCustomers, eq(billingCustomers.userId, userId))
    .innerJoin(users, eq(users.id, userId))
    .all()
}

/** Only the fields that changed: the customer may have entered another name at Stripe for invoices. */
function toContact({ emails, names, email, name }: Change) {
  return { ...(emails > 0 && { email }), ...(names > 0 && { name: name ?? '' }) }
}

/** Keeps the change if another one has been made since it was read. */
function removeChange(db: Db, { userId, emails, names }: Change): Statement {
  const { userId: id, emails: sentEmails, names: sentNames } = contactChanges
  return db
    .delete(contactChanges)
    .where(and(eq(id, userId), eq(sentEmails, emails), eq(sentNames, names)))
}
