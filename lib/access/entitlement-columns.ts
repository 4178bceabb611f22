import { overagePrices, spendingCaps, subscriptions } from '../db/billing-tables.ts'
import { users } from '../db/tables.ts'

/** The columns of an entitlement, for users joined with their subscriptions, caps and the price. */
export const entitlementColumns = {
  assignedPlan: users.plan,
  subscribed: {
    plan: subscriptions.plan,
    status: subscriptions.status,
    periodStart: subscriptions.periodStart,
    periodEnd: subscriptions.periodEnd,
    interval: subscriptions.interval,
    overages: subscriptions.overages,
    carriedRequests: subscriptions.carriedRequests,
    carriedUntil: subscriptions.carriedUntil,
  },
  overagePrice: { currency: overagePrices.currency, unitAmount: overagePrices.unitAmount },
  spendingCap: { currency: spendingCaps.currency, amount: spendingCaps.amount },
}
