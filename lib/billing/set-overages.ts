import { ApiError } from '../errors.ts'
import type { Actor } from './actor.ts'
import { type Billing, notConfigured } from './billing.ts'
import { findSubscription, type SubscriptionRow } from './subscriptions.ts'
import { OVERAGES_FIELD } from './told.ts'
import { requireActive, withSubscription } from './with-subscription.ts'

/**
 * Has requests over the cap answered in full for a fee, or no longer. What was used until then is
 * billed, so the item that charges for it stays. Returns whether they are on. Throws PLAN_REQUIRED
 * where the plan does not allow it.
 */
export async function setOverages(
  billing: Billing,
  actor: Actor,
  wanted: 'on' | 'off',
): Promise<boolean> {
  requireAllowed(billing, requireActive(await findSubscription(billing.db, actor.userId)))
  const { overagePrice } = billing
  if (overagePrice === undefined) throw notConfigured()
  return withSubscription(billing, actor.userId, async (calls, row) => {
    requireAllowed(billing, row)
    if (row.overages === (wanted === 'on')) return row.overages
    const change = {
      metadata: { [OVERAGES_FIELD]: wanted },
      ...(row.overageItemId === null && { items: [{ price: overagePrice }] }),
      proration_behavior: 'none' as const,
    }
    await calls.write((stripe, options) => stripe.subscriptions.update(row.id, change, options))
    const note = {
      action: 'set_overages',
      targetType: 'subscription',
      targetId: row.id,
      detail: wanted,
    }
    const { after } = await billing.sync(calls, actor.userId, () => [actor.audit(note)])
    return requireActive(after).overages
  })
}

function requireAllowed({ allowsOverages }: Billing, { plan }: SubscriptionRow): void {
  if (allowsOverages(plan)) return
  throw new ApiError('PLAN_REQUIRED', `The plan ${plan} has no overages: change to a larger one`)
}
