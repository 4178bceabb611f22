import type { Actor, Billing } from '../billing.ts'
import { listDuplicates, toDuplicateNote } from './duplicate-rows.ts'
import { sync } from './sync.ts'
import { withSubscription } from './with-subscription.ts'

/**
 * Ends the user's duplicates at once, and credits the unused time of those that are paid. Does nothing if
 * there are none. Throws NO_ACTIVE_SUBSCRIPTION if no subscription gives access.
 */
export function endDuplicates(billing: Billing, actor: Actor): Promise<void> {
  return withSubscription(billing, actor.userId, async (stripe) => {
    const duplicates = await listDuplicates(billing.db, actor.userId)
    if (duplicates.length === 0) return
    for (const { id, status } of duplicates) {
      // Time that was never paid must not become credit.
      await (status === 'past_due' ? stripe.cancelNow(id) : stripe.cancelWithCredit(id))
    }
    await sync(billing, stripe, actor.userId, () =>
      duplicates.map((row) => actor.audit(toDuplicateNote('end_duplicate', row))),
    )
  })
}
