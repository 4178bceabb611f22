import type Stripe from 'stripe'
import type { ProrationPreview } from '../contract/billing-schemas.ts'
import type { Plan } from '../plans.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { getPrice } from './plan-choice.ts'
import { findPreview, savePreview } from './plan-previews.ts'
import type { StripeCalls } from './stripe-calls.ts'
import type { SubscriptionRow } from './subscriptions.ts'
import { OVERAGES_FIELD } from './told.ts'
import { requireActive, withSubscription } from './with-subscription.ts'

/** How long a change of plan costs what its preview said. */
const PREVIEW_HOLDS_MS = 60 * 60 * 1000

/** What the change would cost now. Its moment is kept, so that the change costs the same. */
export function previewPlanChange(
  billing: Billing,
  { userId, now }: Pick<Actor, 'userId' | 'now'>,
  plan: Plan,
): Promise<ProrationPreview> {
  return withSubscription(billing, userId, async (calls, row) => {
    const prorationAt = momentIn(row, now)
    const answer = { planId: plan.id, prorationDate: new Date(prorationAt).toISOString() }
    if (row.plan === plan.id) {
      return { ...answer, currency: await currencyOf(calls, row), amountDue: 0, lines: [] }
    }
    const invoice = await calls.read((stripe, options) =>
      stripe.invoices.createPreview(
        {
          subscription: row.id,
          subscription_details: changeTo(row, getPrice(billing.prices, plan), prorationAt),
        },
        options,
      ),
    )
    await billing.change([savePreview(billing.db, { userId, plan: plan.id, prorationAt })])
    return { ...answer, ...toCost(invoice) }
  })
}

/**
 * Changes the plan at once and charges for the rest of the period, or credits it. Throws
 * PAYMENT_FAILED, with nothing changed, where the card is declined.
 */
export function changePlan(billing: Billing, actor: Actor, plan: Plan): Promise<SubscriptionRow> {
  return withSubscription(billing, actor.userId, async (calls, row) => {
    if (row.plan === plan.id) return row
    const change = {
      ...changeTo(row, getPrice(billing.prices, plan), await previewedMoment(billing, actor, plan)),
      payment_behavior: 'error_if_incomplete' as const,
      ...(!billing.allowsOverages(plan.id) && { metadata: { [OVERAGES_FIELD]: 'off' } }),
    }
    await calls.write((stripe, options) => stripe.subscriptions.update(row.id, change, options))
    const note = {
      action: 'change_plan',
      targetType: 'subscription',
      targetId: row.id,
      detail: `${row.plan} to ${plan.id}`,
    }
    const { after } = await billing.sync(calls, actor.userId, () => [actor.audit(note)])
    return requireActive(after)
  })
}

/** What preview and change have in common: by it the one charges what the other tells. */
function changeTo({ itemId, ...row }: SubscriptionRow, price: string, prorationAt: number | null) {
  const isInPeriod = prorationAt !== null && prorationAt >= row.periodStart
  return {
    items: [{ id: itemId, price }],
    proration_behavior: 'always_invoice' as const,
    ...(isInPeriod && { proration_date: Math.floor(prorationAt / 1000) }),
  }
}

async function previewedMoment(
  { db }: Billing,
  { userId, now }: Actor,
  plan: Plan,
): Promise<number | null> {
  const preview = await findPreview(db, userId)
  const holds = preview?.plan === plan.id && now - preview.prorationAt <= PREVIEW_HOLDS_MS
  return holds ? preview.prorationAt : null
}

/** Our clock may be behind that of the payment processor, or ahead. Whole seconds. */
function momentIn({ periodStart, periodEnd }: SubscriptionRow, now: number): number {
  const second = Math.floor(now / 1000) * 1000
  return Math.min(Math.max(second, periodStart), periodEnd)
}

async function currencyOf(calls: StripeCalls, { id }: SubscriptionRow): Promise<string> {
  const { currency } = await calls.read((stripe, options) =>
    stripe.subscriptions.retrieve(id, {}, options),
  )
  return currency
}

function toCost({ currency, amount_due, lines }: Stripe.Invoice) {
  return {
    currency,
    amountDue: amount_due,
    lines: lines.data.map(({ description, amount }) => ({ description, amount })),
  }
}
