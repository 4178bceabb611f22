import { subscriptions } from '../db/billing-tables.ts'
import { users } from '../db/tables.ts'

/** What an entitlement is made of, of users joined with their subscriptions. */
export const entitlementColumns = {
  givenPlan: users.plan,
  subscribed: {
    plan: subscriptions.plan,
    status: subscriptions.status,
    periodStart: subscriptions.periodStart,
    periodEnd: subscriptions.periodEnd,
    overages: subscriptions.overages,
  },
}
