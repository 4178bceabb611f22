import { accountRoutes } from '../resources/account.ts'
import { couponRoutes } from '../resources/catalog/coupons.ts'
import { priceRoutes } from '../resources/catalog/prices.ts'
import { promotionCodeRoutes } from '../resources/catalog/promotion-codes.ts'
import { checkoutRoutes } from '../resources/checkout/checkout-sessions.ts'
import { customerRoutes } from '../resources/customers.ts'
import { invoiceRoutes } from '../resources/invoices.ts'
import { meterEventRoutes } from '../resources/meter-events.ts'
import { meterRoutes } from '../resources/meters.ts'
import { paymentMethodRoutes, setupIntentRoutes } from '../resources/payment-methods.ts'
import { portalRoutes } from '../resources/portal-sessions.ts'
import { subscriptionRoutes } from '../resources/subscriptions.ts'
import { taxIdRoutes } from '../resources/tax-ids.ts'
import { testClockRoutes } from '../resources/test-clocks.ts'
import { taxSettingsRoutes } from '../tax/tax-settings.ts'
import type { Route } from './route.ts'

/** All operations of Stripe's API that the double supports. */
export const operations: readonly Route[] = [
  ...customerRoutes,
  ...taxIdRoutes,
  ...taxSettingsRoutes,
  ...priceRoutes,
  ...couponRoutes,
  ...promotionCodeRoutes,
  ...paymentMethodRoutes,
  ...setupIntentRoutes,
  ...checkoutRoutes,
  ...portalRoutes,
  ...subscriptionRoutes,
  ...invoiceRoutes,
  ...meterRoutes,
  ...meterEventRoutes,
  ...testClockRoutes,
  ...accountRoutes,
]
