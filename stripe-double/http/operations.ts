import { checkoutRoutes } from '../resources/checkout-sessions.ts'
import { couponRoutes } from '../resources/coupons.ts'
import { customerRoutes } from '../resources/customers.ts'
import { deleteCustomerRoutes } from '../resources/delete-customer.ts'
import { eventRoutes } from '../resources/events.ts'
import { invoiceRoutes } from '../resources/invoices.ts'
import { meterEventRoutes } from '../resources/meter-events.ts'
import { meterRoutes } from '../resources/meters.ts'
import { paymentMethodRoutes } from '../resources/payment-methods.ts'
import { portalRoutes } from '../resources/portal-sessions.ts'
import { priceRoutes } from '../resources/prices.ts'
import { productRoutes } from '../resources/products.ts'
import { promotionCodeRoutes } from '../resources/promotion-codes.ts'
import { setupIntentRoutes } from '../resources/setup-intents.ts'
import { subscriptionItemRoutes } from '../resources/subscription-items.ts'
import { subscriptionRoutes } from '../resources/subscriptions.ts'
import { taxIdRoutes } from '../resources/tax-ids.ts'
import { webhookEndpointRoutes } from '../resources/webhook-endpoints.ts'
import type { Route } from './route.ts'

/** All of Stripe's API that the double speaks. */
export const operations: readonly Route[] = [
  ...customerRoutes,
  ...deleteCustomerRoutes,
  ...taxIdRoutes,
  ...productRoutes,
  ...priceRoutes,
  ...couponRoutes,
  ...promotionCodeRoutes,
  ...paymentMethodRoutes,
  ...setupIntentRoutes,
  ...checkoutRoutes,
  ...portalRoutes,
  ...subscriptionRoutes,
  ...subscriptionItemRoutes,
  ...invoiceRoutes,
  ...meterRoutes,
  ...meterEventRoutes,
  ...eventRoutes,
  ...webhookEndpointRoutes,
]
