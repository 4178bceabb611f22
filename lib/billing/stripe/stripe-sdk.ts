import Stripe from 'stripe'
import { ApiError } from '../../parts/errors.ts'
import { NO_TAX_LOCATION, taxLocationNeeded } from './invoice-tax.ts'
import { createStripeHttp } from './stripe-http.ts'
import {
  BillingUnavailable,
  ConfirmationNeeded,
  IDENTIFIER_USED,
  StripeDenial,
  StripeRefusal,
} from './stripe-refusal.ts'

export type StripeSdk = ReturnType<typeof createStripe>

export interface StripeOptions {
  readonly secretKey: string
  /** The address of a Stripe double; undefined for Stripe itself. */
  readonly apiBase: string | undefined
  readonly onFailure: (failure: StripeFailure) => void
}

/** Less than an action may take: its own calls come after this one. */
const ACCOUNT_TIMEOUT_MS = 4_000

/** Import this file lazily: the SDK takes longer to load than everything else. */
export function createStripe({ secretKey, apiBase, onFailure }: StripeOptions) {
  const sdk = new Stripe(secretKey, {
    httpClient: createStripeHttp(),
    // `beginCalls` repeats calls, within the time limit of an action.
    maxNetworkRetries: 0,
    telemetry: false,
    ...(apiBase !== undefined && toAddress(apiBase)),
  })
  return {
    sdk,
    classify,
    translate: (error: unknown) => translate(error, onFailure),
    /** The id of the key's account; null if the key may not read it. */
    readAccount: async (): Promise<string | null> => {
      try {
        return (await sdk.accounts.retrieveCurrent({}, { timeout: ACCOUNT_TIMEOUT_MS })).id
      } catch (error) {
        if (error instanceof Stripe.errors.StripePermissionError) return null
        throw translate(error, onFailure)
      }
    },
  }
}

function toAddress(url: string) {
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  return {
    protocol: isSecure ? 'https' : 'http',
    host: hostname,
    port: port || (isSecure ? 443 : 80),
  } as const
}

/**
 * `temporary`: the same call may succeed soon. `stored`: Stripe repeats the failure of an earlier call with
 * the same idempotency key, and will do so for a day or more. Anything else is `final`.
 */
function classify(error: unknown): 'temporary' | 'stored' | 'final' {
  if (!(error instanceof Stripe.errors.StripeError)) return 'final'
  if (error instanceof Stripe.errors.StripeConnectionError) return 'temporary'
  const { headers = {}, statusCode = 0, code } = error
  if (headers['idempotent-replayed'] === 'true') return 'stored'
  const advice = headers['stripe-should-retry']
  if (advice === 'true' || advice === 'false') return advice === 'true' ? 'temporary' : 'final'
  const isTemporary = statusCode >= 500 || TEMPORARY.includes(statusCode) || code === 'lock_timeout'
  return isTemporary ? 'temporary' : 'final'
}

/** Another call with the same idempotency key is running; too many calls, or the object is locked. */
const TEMPORARY = [409, 429]

/** Turns an error of the SDK into the error that callers get. */
function translate(error: unknown, onFailure: StripeOptions['onFailure']): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  // For an invoice, it may be an invalid request instead of a card error.
  if (error.code?.endsWith('_payment_intent_requires_action')) return new ConfirmationNeeded()
  if (error instanceof Stripe.errors.StripeCardError) {
    return new ApiError('PAYMENT_FAILED', 'The payment was declined: use another payment method')
  }
  if (isUsedIdentifier(error)) return new StripeRefusal(IDENTIFIER_USED)
  if (error.code === NO_TAX_LOCATION) return taxLocationNeeded()
  onFailure(toFailure(error))
  if (error instanceof Stripe.errors.StripePermissionError) return new StripeDenial()
  return error instanceof Stripe.errors.StripeInvalidRequestError
    ? new StripeRefusal(error.code)
    : new BillingUnavailable()
}

export type StripeFailure = ReturnType<typeof toFailure>

/** The fields for the log, without any text that a caller or Stripe wrote. */
function toFailure({ type, code, param, statusCode, requestId }: Stripe.errors.StripeError) {
  return { type, code, param, status: statusCode, processorRequestId: requestId }
}

/** The code is in the document of Stripe's API; others have seen the message alone. */
function isUsedIdentifier({ code, message }: Stripe.errors.StripeError): boolean {
  return code === IDENTIFIER_USED || /^An event already exists with identifier /.test(message)
}
