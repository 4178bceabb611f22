import Stripe from 'stripe'
import { ApiError } from '../errors.ts'
import { AlreadyTold, Refusal, type StripeClient, unavailable } from './stripe-calls.ts'

export interface StripeOptions {
  readonly secretKey: string
  /** Where a double listens; undefined: Stripe itself. */
  readonly apiBase: string | undefined
  readonly onTrouble: (trouble: Trouble) => void
}

/** What went wrong, without anything that a caller or the payment processor wrote. */
export interface Trouble {
  readonly type: string
  readonly code: string | undefined
  readonly param: string | undefined
  readonly status: number | undefined
  readonly processorRequestId: string | undefined
}

/** The SDK of Stripe, which takes longer to load than the rest of a start: load it when needed. */
export function createStripe({ secretKey, apiBase, onTrouble }: StripeOptions): StripeClient {
  const stripe = new Stripe(secretKey, {
    // Our callers wait: they are told to come again, and nothing is tried behind their back.
    maxNetworkRetries: 0,
    telemetry: false,
    ...(apiBase !== undefined && toAddress(apiBase)),
  })
  return { stripe, translate: (error) => translate(error, onTrouble) }
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

function translate(error: unknown, onTrouble: StripeOptions['onTrouble']): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  if (error instanceof Stripe.errors.StripeCardError) {
    return new ApiError('PAYMENT_FAILED', 'The payment was declined: use another payment method')
  }
  if (isTakenIdentifier(error)) return new AlreadyTold(error.code)
  const { type, code, param, statusCode: status, requestId: processorRequestId } = error
  onTrouble({ type, code, param, status, processorRequestId })
  return error instanceof Stripe.errors.StripeInvalidRequestError
    ? new Refusal(code)
    : unavailable()
}

/** Of a meter event; Stripe tells it by the message alone. */
function isTakenIdentifier({ statusCode, message }: Stripe.errors.StripeError): boolean {
  return statusCode === 400 && /^An event already exists with identifier /.test(message)
}
