import { accountOperations } from './account.ts'
import { batchOperations } from './batch.ts'
import { billingOperations } from './billing.ts'
import { billingAccountOperations } from './billing-account.ts'
import { contactOperations } from './contact.ts'
import { geolocationOperations } from './geolocation.ts'
import { scriptOperations } from './script.ts'
import { systemOperations } from './system.ts'
import { telemetryOperations } from './telemetry.ts'
import { webhookOperations } from './webhook.ts'

/** The whole interface, in the order in which the description lists it. */
export const operations = [
  ...systemOperations,
  ...geolocationOperations,
  ...batchOperations,
  ...accountOperations,
  ...billingOperations,
  ...billingAccountOperations,
  ...webhookOperations,
  ...telemetryOperations,
  ...scriptOperations,
  ...contactOperations,
] as const

export type OperationRow = (typeof operations)[number]
export type OperationId = OperationRow['id']
