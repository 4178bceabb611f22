import type { AuditNote } from '../../contract/account/audit-actions.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import { listDuplicates, toDuplicateNote } from './duplicate-rows.ts'
import { sync } from './sync.ts'
import { withSubscription } from './with-subscription.ts'

interface EndDuplicatesOptions {
  readonly userId: string
  /** The audit rows of one subscription that ends. */
  readonly audit: (note: AuditNote) => readonly Statement[]
}

/**
 * Ends the user's duplicates at once, and credits the unused time of those that are paid. Does nothing if
 * there are none. Throws NO_ACTIVE_SUBSCRIPTION if no subscription gives access.
 */
export function endDuplicates(
  billing: Billing,
  { userId, audit }: EndDuplicatesOptions,
): Promise<void> {
  return withSubscription(billing, userId, async (stripe) => {
    const duplicates = await listDuplicates(billing.db, userId)
    if (duplicates.length === 0) return
    for (const { id, status } of duplicates) {
      // Time that was never paid must not become credit.
      await (status === 'past_due' ? stripe.cancelNow(id) : stripe.cancelWithCredit(id))
    }
    await sync(billing, stripe, userId, () =>
      duplicates.flatMap((row) => audit(toDuplicateNote('end_duplicate', row))),
    )
  })
}
