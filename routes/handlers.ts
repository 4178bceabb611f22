import type { Services } from '../lib/services/services.ts'
import { accountHandlers } from './api/account.ts'
import { accountEndingHandlers } from './api/account-ending.ts'
import { billingAccountHandlers } from './api/billing/billing-account.ts'
import { overageHandlers } from './api/billing/overages.ts'
import { subscriptionHandlers } from './api/billing/subscription.ts'
import { webhookHandlers } from './api/billing/webhook.ts'
import { contactHandlers } from './api/contact.ts'
import { emailHandlers } from './api/email.ts'
import { autonomousSystemHandlers } from './api/geo/autonomous-systems.ts'
import { batchHandlers } from './api/geo/batch.ts'
import { forwardAuthHandlers } from './api/geo/forward-auth.ts'
import { geolocationHandlers } from './api/geo/geolocation.ts'
import { summaryHandlers } from './api/geo/summary.ts'
import { keyHandlers } from './api/keys.ts'
import { secondFactorHandlers } from './api/second-factor.ts'
import { sessionHandlers } from './api/sessions.ts'
import { siteHandlers } from './api/sites.ts'
import { systemHandlers } from './api/system.ts'
import { telemetryHandlers } from './api/telemetry.ts'
import { usageHandlers } from './api/usage.ts'
import { usageMailHandlers } from './api/usage-mails.ts'
import type { Handlers } from './context.ts'
import { scriptHandlers } from './pages/script.ts'

/** Every operation of the contract with the function that performs it, except beacons. */
export function createHandlers(services: Services): Handlers {
  return {
    ...systemHandlers(services),
    ...geolocationHandlers(services),
    ...batchHandlers(services),
    ...summaryHandlers(services),
    ...autonomousSystemHandlers(services),
    ...forwardAuthHandlers(services),
    ...accountHandlers(services),
    ...accountEndingHandlers(services),
    ...sessionHandlers(services),
    ...emailHandlers(services),
    ...secondFactorHandlers(services),
    ...keyHandlers(services),
    ...siteHandlers(services),
    ...usageHandlers(services),
    ...usageMailHandlers(services),
    ...subscriptionHandlers(services),
    ...overageHandlers(services),
    ...webhookHandlers(services),
    ...billingAccountHandlers(services),
    ...scriptHandlers(services),
    ...telemetryHandlers(services),
    ...contactHandlers(services),
  }
}
