import { accountOperations } from './account/account.ts'
import { accountEndingOperations } from './account/account-ending.ts'
import { emailOperations } from './account/email.ts'
import { secondFactorOperations } from './account/second-factor.ts'
import { sessionOperations } from './account/sessions.ts'
import { usageMailOperations } from './account/usage-mails.ts'
import { billingOperations } from './billing/billing.ts'
import { billingAccountOperations } from './billing/billing-account.ts'
import { overageOperations } from './billing/overages.ts'
import { webhookOperations } from './billing/webhook.ts'
import { contactOperations } from './contact.ts'
import { autonomousSystemOperations } from './geo/autonomous-systems.ts'
import { batchOperations } from './geo/batch.ts'
import { forwardAuthOperations } from './geo/forward-auth.ts'
import { lookUpOperations } from './geo/look-ups.ts'
import { summaryOperations } from './geo/summary.ts'
import { systemOperations } from './system.ts'
import { scriptOperations } from './telemetry/script.ts'
import { telemetryOperations } from './telemetry/telemetry.ts'

/** All operations, in the order of the OpenAPI document. */
export const operations = [
  ...systemOperations,
  ...lookUpOperations,
  ...batchOperations,
  ...summaryOperations,
  ...autonomousSystemOperations,
  ...forwardAuthOperations,
  ...accountOperations,
  ...usageMailOperations,
  ...sessionOperations,
  ...emailOperations,
  ...secondFactorOperations,
  ...accountEndingOperations,
  ...billingOperations,
  ...overageOperations,
  ...billingAccountOperations,
  ...webhookOperations,
  ...telemetryOperations,
  ...scriptOperations,
  ...contactOperations,
] as const

export type OperationRow = (typeof operations)[number]
export type OperationId = OperationRow['id']
