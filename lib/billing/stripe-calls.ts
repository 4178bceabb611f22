import type Stripe from 'stripe'
import { ApiError } from '../errors.ts'

export interface StripeClient {
  readonly stripe: Stripe
  /** What is thrown to callers for an error of the SDK. */
  readonly translate: (error: unknown) => unknown
}

/**
 * The calls of one action, which share a time limit. They throw BILLING_UNAVAILABLE where the payment
 * processor does not do its part in time, PAYMENT_FAILED where a card is declined, and a `Refusal`
 * where it does not take what it is told.
 */
export interface StripeCalls {
  read<Result>(call: Call<Result>): Promise<Result>
  /** A call that is sent twice with one key is done once. */
  write<Result>(call: Call<Result>, idempotencyKey?: string): Promise<Result>
}

type Call<Result> = (stripe: Stripe, options: Stripe.RequestOptions) => Promise<Result>

const TIME_LIMIT_MS = 9_000

/** Begins the calls of one action. */
export function beginCalls(
  load: () => Promise<StripeClient>,
  limitMs: number = TIME_LIMIT_MS,
): StripeCalls {
  const deadline = performance.now() + limitMs
  const attempt = async <Result>(call: Call<Result>, options: Stripe.RequestOptions) => {
    const { stripe, translate } = await load()
    const timeout = Math.ceil(deadline - performance.now())
    if (timeout <= 0) throw unavailable()
    try {
      return await call(stripe, { ...options, timeout })
    } catch (error) {
      throw translate(error)
    }
  }
  return {
    read: (call) => attempt(call, {}),
    write: (call, idempotencyKey = crypto.randomUUID()) => attempt(call, { idempotencyKey }),
  }
}

/**
 * The payment processor does not take what it was told. Whoever told it may know what that means;
 * where nobody does, it is BILLING_UNAVAILABLE.
 */
export class Refusal extends ApiError {
  /** As Stripe names it, such as `resource_missing`. */
  readonly reason: string | undefined

  constructor(reason: string | undefined) {
    super('BILLING_UNAVAILABLE', 'The payment processor refuses that now: try again')
    this.reason = reason
  }
}

/** The identifier of what was told is taken: the processor has been told already. */
export class AlreadyTold extends Refusal {}

/** For `catch`: throws this instead of a refusal. */
export function refusedAs(code: 'BAD_REQUEST' | 'NOT_FOUND', message: string) {
  return (error: unknown): never => {
    throw error instanceof Refusal ? new ApiError(code, message) : error
  }
}

/** For `catch`: says what is wrong with the input, unless what it is for is gone. */
export function invalidAs(message: string) {
  const refuse = refusedAs('BAD_REQUEST', message)
  return (error: unknown): never => {
    if (isMissing(error)) throw error
    return refuse(error)
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Refusal && error.reason === 'resource_missing'
}

export function unavailable(): ApiError {
  return new ApiError('BILLING_UNAVAILABLE', 'The payment processor does not answer: try again')
}
