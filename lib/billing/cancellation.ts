import type { CancelResponse } from '../contract/billing-schemas.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import type { StripeCalls } from './stripe-calls.ts'
import type { SubscriptionRow } from './subscriptions.ts'
import { requireActive, withSubscription } from './with-subscription.ts'

/** Marks the subscription to end with its period. One that is marked stays as it is. */
export function cancelSubscription(billing: Billing, actor: Actor): Promise<CancelResponse> {
  return withSubscription(billing, actor.userId, async (calls, row) => {
    if (row.cancelAt !== null) return toCanceling(row)
    await calls.write((stripe, options) =>
      stripe.subscriptions.update(row.id, { cancel_at_period_end: true }, options),
    )
    const audit = () => [actor.audit({ action: 'cancel_subscription', ...targetOf(row) })]
    const { after } = await billing.sync(calls, actor.userId, audit)
    return toCanceling(requireActive(after))
  })
}

/** Takes the mark away, whichever form it has. */
export function reactivateSubscription(billing: Billing, actor: Actor): Promise<void> {
  return withSubscription(billing, actor.userId, async (calls, row) => {
    if (row.cancelAt === null) return
    const change = await unmark(calls, row)
    await calls.write((stripe, options) => stripe.subscriptions.update(row.id, change, options))
    const audit = () => [actor.audit({ action: 'reactivate_subscription', ...targetOf(row) })]
    requireActive((await billing.sync(calls, actor.userId, audit)).after)
  })
}

/** We cancel by the one field, the customer portal by the other; Stripe takes only one at once. */
async function unmark(calls: StripeCalls, { id }: SubscriptionRow) {
  const told = await calls.read((stripe, options) => stripe.subscriptions.retrieve(id, {}, options))
  return told.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' as const }
}

function toCanceling({ cancelAt }: SubscriptionRow): CancelResponse {
  return {
    status: 'canceling',
    cancelAt: cancelAt === null ? null : new Date(cancelAt).toISOString(),
  }
}

function targetOf({ id, plan }: SubscriptionRow) {
  return { targetType: 'subscription', targetId: id, detail: plan }
}
