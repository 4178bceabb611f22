import { type Caller, unauthorized } from '../lib/access/authenticate.ts'
import { findUser } from '../lib/accounts/users.ts'
import type { Billing } from '../lib/billing/billing.ts'
import { cancelSubscription, reactivateSubscription } from '../lib/billing/cancellation.ts'
import { startCheckout } from '../lib/billing/checkout.ts'
import { changePlan, previewPlanChange } from '../lib/billing/plan-change.ts'
import { getPaidPlan } from '../lib/billing/plan-choice.ts'
import { findSubscription, type SubscriptionRow, statusOf } from '../lib/billing/subscriptions.ts'
import type { SubscriptionResponse } from '../lib/contract/billing-schemas.ts'
import { APP_PATH } from '../lib/contract/pages.ts'
import { toPublicPlan } from '../lib/plans.ts'
import type { Services } from '../lib/services/services.ts'
import { toActor } from './actor.ts'
import type { Handlers } from './context.ts'

export function subscriptionHandlers({ billing, db, plans, baseUrl }: Services) {
  return {
    getSubscription: async ({ caller }) => {
      const row = await findSubscription(db, caller.userId)
      return { status: 200, body: toResponse(billing, caller.plan, row) }
    },
    createCheckout: async ({ caller, body, now }) => {
      const plan = getPaidPlan(plans, body.planId)
      const user = await findUser(db, caller.userId)
      if (user === null) throw unauthorized()
      const { id: userId, email, name } = user
      const wish = {
        plan,
        buyer: { userId, email, name },
        embedded: body.embedded === true,
        pages: returnPages(baseUrl()),
      }
      return { status: 200, body: await startCheckout(billing, toActor(db, caller, now), wish) }
    },
    changePlan: async ({ caller, body, now }) => {
      const plan = getPaidPlan(plans, body.planId)
      const row = await changePlan(billing, toActor(db, caller, now), plan)
      const inEffect = plans.find(row.plan) ?? plan
      return { status: 200, body: toResponse(billing, inEffect, row) }
    },
    previewPlanChange: async ({ caller, query, now }) => {
      const plan = getPaidPlan(plans, query.planId)
      const { userId } = caller
      return { status: 200, body: await previewPlanChange(billing, { userId, now }, plan) }
    },
    cancelSubscription: async ({ caller, now }) => {
      return { status: 200, body: await cancelSubscription(billing, toActor(db, caller, now)) }
    },
    reactivateSubscription: async ({ caller, now }) => {
      await reactivateSubscription(billing, toActor(db, caller, now))
      return { status: 200, body: { status: 'active' } }
    },
  } satisfies Partial<Handlers>
}

/** Pages of the dashboard. */
function returnPages(baseUrl: string) {
  const page = `${baseUrl}${APP_PATH}/billing`
  return { done: `${page}?checkout=done`, canceled: `${page}?checkout=canceled` }
}

function toResponse(
  { prices }: Billing,
  plan: Caller['plan'],
  row: SubscriptionRow | null,
): SubscriptionResponse {
  return {
    plan: toPublicPlan(plan, prices.priceOf(plan)),
    subscription: row && {
      id: row.id,
      status: statusOf(row),
      currentPeriodStart: new Date(row.periodStart).toISOString(),
      currentPeriodEnd: new Date(row.periodEnd).toISOString(),
      overagesEnabled: row.overages,
    },
  }
}
