import Stripe from 'stripe'
import { ApiError } from '../../errors.ts'
import { NO_TAX_LOCATION, taxLocationNeeded } from './invoice-tax.ts'
import { IDENTIFIER_USED, StripeDenial, StripeRefusal, unavailable } from './stripe-refusal.ts'

export type StripeSdk = ReturnType<typeof createStripe>

export interface StripeOptions {
  readonly secretKey: string
  /** The address of a Stripe double; undefined for Stripe itself. */
  readonly apiBase: string | undefined
  readonly onFailure: (failure: StripeFailure) => void
}

/** Import this file lazily: the SDK takes longer to load than everything else. */
export function createStripe({ secretKey, apiBase, onFailure }: StripeOptions) {
  const sdk = new Stripe(secretKey, {
    // Our callers are waiting: they get an error and can try again.
    maxNetworkRetries: 0,
    telemetry: false,
    ...(apiBase !== undefined && toAddress(apiBase)),
  })
  return { sdk, translate: (error: unknown) => translate(error, onFailure) }
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

/** Turns an error of the SDK into the error that callers get. */
function translate(error: unknown, onFailure: StripeOptions['onFailure']): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  if (error instanceof Stripe.errors.StripeCardError) {
    return new ApiError('PAYMENT_FAILED', 'The payment was declined: use another payment method')
  }
  if (isUsedIdentifier(error)) return new StripeRefusal(IDENTIFIER_USED)
  if (error.code === NO_TAX_LOCATION) return taxLocationNeeded()
  onFailure(toFailure(error))
  if (error instanceof Stripe.errors.StripePermissionError) return new StripeDenial()
  return error instanceof Stripe.errors.StripeInvalidRequestError
    ? new StripeRefusal(error.code)
    : unavailable()
}

export type StripeFailure = ReturnType<typeof toFailure>

/** The fields for the log, without any text that a caller or Stripe wrote. */
function toFailure({ type, code, param, statusCode, requestId }: Stripe.errors.StripeError) {
  return { type, code, param, status: statusCode, processorRequestId: requestId }
}

/** Stripe has no error code for this case, only a message. */
function isUsedIdentifier({ statusCode, message }: Stripe.errors.StripeError): boolean {
  return statusCode === 400 && /^An event already exists with identifier /.test(message)
}
