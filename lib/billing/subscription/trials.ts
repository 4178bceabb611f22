import { trials } from '../../db/billing-tables.ts'
import { eq } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'

/** Whether the user has had a trial of any plan. */
export async function hasTried(db: Db, userId: string): Promise<boolean> {
  const row = await db.select().from(trials).where(eq(trials.userId, userId)).get()
  return row !== undefined
}

/** Stores the trials of these subscriptions, for good. */
export function insertTrials(
  db: Db,
  userId: string,
  subscriptions: readonly StripeSubscription[],
): Statement[] {
  return subscriptions
    .filter(({ trialEnd }) => trialEnd !== null)
    .map(({ createdAt: startedAt }) =>
      db.insert(trials).values({ userId, startedAt }).onConflictDoNothing(),
    )
}
