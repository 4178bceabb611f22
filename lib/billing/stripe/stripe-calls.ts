import type Stripe from 'stripe'
import { unavailable } from './stripe-refusal.ts'
import type { StripeSdk } from './stripe-sdk.ts'

/**
 * The calls of one action, which share a time limit. They throw BILLING_UNAVAILABLE if Stripe does
 * not answer in time, PAYMENT_FAILED if a card is declined, and a `StripeRefusal` or
 * `StripeDenial` if Stripe refuses.
 */
export interface StripeCalls {
  read<Result>(call: Call<Result>): Promise<Result>
  /** Stripe runs calls with the same key once. A call without a key gets a unique one. */
  write<Result>(call: Call<Result>, idempotencyKey?: string): Promise<Result>
}

type Call<Result> = (sdk: Stripe, options: Stripe.RequestOptions) => Promise<Result>

const TIME_LIMIT_MS = 9_000

/** Starts the time limit of an action. */
export function beginCalls(
  load: () => Promise<StripeSdk>,
  limitMs: number = TIME_LIMIT_MS,
): StripeCalls {
  const deadline = performance.now() + limitMs
  const attempt = async <Result>(call: Call<Result>, options: Stripe.RequestOptions) => {
    const { sdk, translate } = await load()
    const timeout = Math.ceil(deadline - performance.now())
    if (timeout <= 0) throw unavailable()
    try {
      return await call(sdk, { ...options, timeout })
    } catch (error) {
      throw translate(error)
    }
  }
  return {
    read: (call) => attempt(call, {}),
    write: (call, idempotencyKey = crypto.randomUUID()) => attempt(call, { idempotencyKey }),
  }
}

export function idOf(object: string | { readonly id: string }): string {
  return typeof object === 'string' ? object : object.id
}
