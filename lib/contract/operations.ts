import { accountOperations } from './account.ts'
import { billingOperations } from './billing.ts'
import { contactOperations } from './contact.ts'
import { geolocationOperations } from './geolocation.ts'
import { scriptOperations } from './script.ts'
import { systemOperations } from './system.ts'
import { telemetryOperations } from './telemetry.ts'

/** The whole interface, in the order in which the description lists it. */
export const operations = [
  ...systemOperations,
  ...geolocationOperations,
  ...accountOperations,
  ...billingOperations,
  ...telemetryOperations,
  ...scriptOperations,
  ...contactOperations,
] as const

export type OperationRow = (typeof operations)[number]
export type OperationId = OperationRow['id']
