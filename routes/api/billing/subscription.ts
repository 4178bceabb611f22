import type { Caller } from '../../../lib/access/authenticate.ts'
import type { Billing } from '../../../lib/billing/billing.ts'
import { getPaidPlan } from '../../../lib/billing/plan-prices.ts'
import { changePlan, previewPlanChange } from '../../../lib/billing/subscription/change-plan.ts'
import {
  cancelSubscription,
  reactivateSubscription,
  setOverages,
} from '../../../lib/billing/subscription/changes.ts'
import { startCheckout } from '../../../lib/billing/subscription/checkout.ts'
import {
  findSubscription,
  type SubscriptionRow,
  statusOf,
} from '../../../lib/billing/subscription/subscriptions.ts'
import { refreshSubscription } from '../../../lib/billing/subscription/sync.ts'
import { toTerms } from '../../../lib/billing/subscription/terms.ts'
import { requireActive } from '../../../lib/billing/subscription/with-subscription.ts'
import { planInEffect } from '../../../lib/config/entitlement.ts'
import { toPublicPlan } from '../../../lib/config/plans.ts'
import type { SubscriptionResponse } from '../../../lib/contract/billing/billing-schemas.ts'
import { APP_PATH } from '../../../lib/contract/pages.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { getUser } from '../account.ts'
import { toActor } from './actor.ts'

export function subscriptionHandlers({
  billing,
  catalogue,
  db,
  plans,
  baseUrl,
  overages,
}: Pick<Services, 'baseUrl' | 'billing' | 'catalogue' | 'db' | 'overages' | 'plans'>) {
  return {
    getSubscription: async ({ caller, query, now }) => {
      const { userId } = caller
      if (query.refresh === 'true') await refreshSubscription(billing, userId, now)
      const subscribed = await findSubscription(db, userId)
      // The caller's plan is from before the refresh.
      const { plan: assignedPlan } = await getUser(db, caller)
      const plan = planInEffect({ assignedPlan, subscribed }, plans)
      return { status: 200, body: toResponse(billing, plan, subscribed) }
    },
    createCheckout: async ({ caller, body, now }) => {
      const plan = getPaidPlan(plans, body.planId)
      const { id: userId, email, name } = await getUser(db, caller)
      const request = {
        plan,
        interval: body.interval ?? 'month',
        currency: body.currency,
        buyer: { userId, email, name },
        embedded: body.embedded === true,
        pages: returnPages(baseUrl()),
      }
      return { status: 200, body: await startCheckout(billing, toActor(db, caller, now), request) }
    },
    changePlan: async ({ caller, body, now }) => {
      const plan = getPaidPlan(plans, body.planId)
      const wanted = { plan, interval: body.interval }
      const { row, ...rest } = await changePlan(billing, toActor(db, caller, now), wanted)
      const inEffect = plans.ofUser(row.plan)
      return { status: 200, body: { ...toResponse(billing, inEffect, row), ...rest } }
    },
    previewPlanChange: async ({ caller, query, now }) => {
      const plan = getPaidPlan(plans, query.planId)
      const wanted = { plan, interval: query.interval }
      const reader = { userId: caller.userId, now }
      return { status: 200, body: await previewPlanChange(billing, reader, wanted) }
    },
    getTerms: async ({ caller }) => {
      const row = requireActive(await findSubscription(db, caller.userId))
      const price = catalogue.find(row.priceId ?? '')
      const lapsed = billing.prices.offerOf(row.lapsedPrice ?? '')
      return { status: 200, body: toTerms(row, { price, lapsed }) }
    },
    setOverages: async ({ caller, body, now }) => {
      const wanted = body.overagesEnabled ? 'on' : 'off'
      const actor = toActor(db, caller, now)
      const overagesEnabled = await setOverages(billing, actor, caller.plan, wanted)
      if (!overagesEnabled) await overages.removeUnusedItem(caller.userId)
      return { status: 200, body: { overagesEnabled } }
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

/** The pages of the dashboard to which Stripe sends the buyer back. */
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
      // The operator may have scheduled the end for another time, also after further periods.
      currentPeriodEnd: new Date(Math.min(row.cancelAt ?? Infinity, row.periodEnd)).toISOString(),
      overagesEnabled: row.overages,
    },
  }
}
