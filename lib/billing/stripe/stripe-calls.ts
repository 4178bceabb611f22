import { setTimeout as wait } from 'node:timers/promises'
import type Stripe from 'stripe'
import { StripeStoredFailure, unavailable } from './stripe-refusal.ts'
import type { StripeSdk } from './stripe-sdk.ts'

/**
 * The calls of one action, which share a time limit. A call that fails temporarily is repeated within
 * that limit. They throw BILLING_UNAVAILABLE if Stripe does not answer in time, PAYMENT_FAILED if a card
 * is declined, and a `StripeRefusal` or `StripeDenial` if Stripe refuses.
 */
export interface StripeCalls {
  read<Result>(call: Call<Result>): Promise<Result>
  /**
   * Stripe runs calls with the same key once. A call without a key gets a unique one. Throws a
   * `StripeStoredFailure` if Stripe keeps the failure of an earlier call with the key.
   */
  write<Result>(call: Call<Result>, idempotencyKey?: string): Promise<Result>
}

type Call<Result> = (sdk: Stripe, options: Stripe.RequestOptions) => Promise<Result>

/** How long and how often an action tries to reach Stripe, and its clock. */
export interface RetryPolicy {
  readonly limitMs: number
  /** The largest number of attempts of one call. */
  readonly tries: number
  /** Milliseconds since an arbitrary moment. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<unknown>
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  limitMs: 9_000,
  tries: 5,
  now: () => performance.now(),
  wait,
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

/** Starts the time limit of an action. */
export function beginCalls(
  load: () => Promise<StripeSdk>,
  retryPolicy: RetryPolicy = DEFAULT_RETRY_POLICY,
): StripeCalls {
  const deadline = retryPolicy.now() + retryPolicy.limitMs
  const left = () => Math.ceil(deadline - retryPolicy.now())
  /** Waits until the next attempt. Throws if there is none. */
  const waitAfter = async (error: unknown, tries: number, { translate, classify }: StripeSdk) => {
    const outcome = classify(error)
    if (outcome === 'stored' && tries === 1) throw new StripeStoredFailure()
    const pause = pauseMs(tries)
    const isLast = tries === retryPolicy.tries || pause >= left()
    if (outcome !== 'temporary' || isLast) throw translate(error)
    await retryPolicy.wait(pause)
  }
  const attempt = async <Result>(call: Call<Result>, options: Stripe.RequestOptions) => {
    const stripe = await load()
    for (let tries = 1; ; tries += 1) {
      const timeout = left()
      if (timeout <= 0) throw unavailable()
      try {
        return await call(stripe.sdk, { ...options, timeout })
      } catch (error) {
        await waitAfter(error, tries, stripe)
      }
    }
  }
  return {
    read: (call) => attempt(call, {}),
    write: (call, idempotencyKey = crypto.randomUUID()) => attempt(call, { idempotencyKey }),
  }
}

/** How long to wait after so many failures: exponential backoff with random jitter. */
function pauseMs(failures: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  return longest * (0.5 + Math.random() / 2)
}

export function idOf(object: string | { readonly id: string }): string {
  return typeof object === 'string' ? object : object.id
}
