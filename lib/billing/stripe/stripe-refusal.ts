import { ApiError } from '../../parts/errors.ts'

/** The code if Stripe already has a meter event with this identifier. */
export const IDENTIFIER_USED = 'duplicate_meter_event'

/** Billing does not work now, whatever the input was. Its subclasses say why. */
export class BillingUnavailable extends ApiError {
  constructor(message = 'Billing is unavailable; try again later') {
    super('BILLING_UNAVAILABLE', message)
  }
}

/**
 * Stripe refused a call, or the call needs a setting that is missing. Unless the caller catches it, the
 * answer is BILLING_UNAVAILABLE.
 */
export class StripeRefusal extends BillingUnavailable {
  /** Stripe's code, such as `resource_missing`, or ours: `price_not_set`. */
  readonly reason: string | undefined

  constructor(reason: string | undefined) {
    super('Stripe refused the request; try again later')
    this.reason = reason
  }
}

/** The key has no permission for a call. */
export class StripeDenial extends BillingUnavailable {
  constructor() {
    super('Stripe does not allow the request; try again later')
  }
}

/** The bank wants the customer to confirm the payment (3-D Secure), on a page of Stripe. */
export class ConfirmationNeeded extends ApiError {
  constructor() {
    super('PAYMENT_FAILED', 'The bank asks you to confirm the payment on the page of the invoice')
  }
}

/** Stripe keeps the failure of an earlier call with this idempotency key: only another key can succeed. */
export class StripeStoredFailure extends BillingUnavailable {}

/** Whether Stripe refused a call because an object that the call names does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof StripeRefusal && error.reason === 'resource_missing'
}

/** For `catch`: returns `fallback` if an object that the call names does not exist. */
export function ifMissing<Fallback>(fallback: Fallback) {
  return (error: unknown): Fallback => {
    if (isMissing(error)) return fallback
    throw error
  }
}

/** For `catch`: returns `fallback` if Stripe refused the call. */
export function onRefusal<Fallback>(fallback: Fallback) {
  return (error: unknown): Fallback => {
    if (error instanceof StripeRefusal) return fallback
    throw error
  }
}

/** For `catch`: returns null if Stripe keeps an earlier failure. */
export function ifStored(error: unknown): null {
  if (error instanceof StripeStoredFailure) return null
  throw error
}

/** For `catch`: turns a refusal into BAD_REQUEST with this message. */
export function ifRefused(message: string) {
  return (error: unknown): never => {
    throw error instanceof StripeRefusal ? new ApiError('BAD_REQUEST', message) : error
  }
}

/** Like `ifRefused`, but rethrows if an object is missing: the input did not cause that. */
export function ifInvalid(message: string) {
  const refuse = ifRefused(message)
  return (error: unknown): never => {
    if (isMissing(error)) throw error
    return refuse(error)
  }
}
