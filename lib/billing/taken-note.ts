import { givesAccess } from '../entitlement.ts'
import type { Note } from './actor.ts'
import { type SubscriptionRow, statusOf } from './subscriptions.ts'
import type { Taken } from './sync.ts'

/** What the payment processor changed, for the audit log; null: nothing that a user would notice. */
export function noteOf({ before, after }: Taken): Note | null {
  if (summaryOf(before) === summaryOf(after)) return null
  const { id: targetId } = after ?? before ?? { id: null }
  const hasEnded = hasAccess(before) && !hasAccess(after)
  return {
    action: hasEnded ? 'subscription_ended' : 'subscription_updated',
    targetType: 'subscription',
    targetId,
    detail: `${summaryOf(before)} to ${summaryOf(after)}`,
  }
}

function hasAccess(row: SubscriptionRow | null): boolean {
  return row !== null && givesAccess(row.status)
}

function summaryOf(row: SubscriptionRow | null): string {
  return row === null ? 'none' : `${row.plan} ${statusOf(row)}`
}
