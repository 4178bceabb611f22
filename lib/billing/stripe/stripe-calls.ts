import { setTimeout as wait } from 'node:timers/promises'
import type Stripe from 'stripe'
import { BillingUnavailable, StripeStoredFailure } from './stripe-refusal.ts'
import type { StripeSdk } from './stripe-sdk.ts'

/** The types of the SDK. Only this folder imports the package, which takes long to load. */
export type { Stripe }

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

/**
 * Starts the time limit of an action, and returns the SDK for its calls. A call that fails temporarily is
 * repeated within that limit, with the same idempotency key. Calls throw BILLING_UNAVAILABLE if Stripe does not
 * answer in time, PAYMENT_FAILED if a card is declined, a `StripeRefusal` or `StripeDenial` if Stripe refuses, and
 * a `StripeStoredFailure` if Stripe keeps the failure of an earlier call with the key.
 */
export function beginCalls(
  load: () => Promise<StripeSdk>,
  retryPolicy: RetryPolicy = DEFAULT_RETRY_POLICY,
): Stripe {
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
  // safe: it has a function at each path that the SDK has, with the same parameters
  return toCalls(async (path, args) => {
    const stripe = await load()
    const call = prepareCall(stripe.sdk, path, args)
    for (let tries = 1; ; tries += 1) {
      const timeout = left()
      if (timeout <= 0) throw new BillingUnavailable()
      try {
        return await call(timeout)
      } catch (error) {
        await waitAfter(error, tries, stripe)
      }
    }
  }) as unknown as Stripe
}

type RunCall = (path: readonly string[], args: readonly unknown[]) => Promise<unknown>

/** Stands for the SDK before it is loaded: `calls.customers.list(…)` runs `['customers', 'list']`. */
function toCalls(run: RunCall, path: readonly string[] = []): object {
  return new Proxy(() => {}, {
    // Without `then`, an asynchronous function can return it.
    get: (_, name) => (name === 'then' ? undefined : toCalls(run, [...path, String(name)])),
    apply: (_, __, args: readonly unknown[]) => run(path, args),
  })
}

/** The SDK takes options as the last parameter of each method. Only writes have a key. */
function prepareCall(sdk: Stripe, path: readonly string[], args: readonly unknown[]) {
  const name = path.at(-1) ?? ''
  const resource = path.slice(0, -1).reduce((from, key) => Reflect.get(from, key), sdk)
  const method = Reflect.get(resource, name)
  const last = method.length - 1
  const params = Array.from({ length: last }, (_, n) => args[n])
  const key = /^(list|retrieve|search)/.test(name) ? {} : { idempotencyKey: crypto.randomUUID() }
  return (timeout: number) =>
    Reflect.apply(method, resource, [...params, { ...key, ...Object(args[last]), timeout }])
}

/** How long to wait after so many failures: exponential backoff with random jitter. */
function pauseMs(failures: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  return longest * (0.5 + Math.random() / 2)
}

/** The largest page that Stripe returns. */
export const MAX_PAGE = 100

interface Page {
  readonly limit: number
  readonly starting_after?: string
}

/** Reads a list to its end; `read` gets the parameters of each page. */
export async function* eachOf<Row extends { readonly id: string }>(
  read: (page: Page) => Promise<Pick<Stripe.ApiList<Row>, 'data' | 'has_more'>>,
): AsyncGenerator<Row> {
  let page: Page = { limit: MAX_PAGE }
  for (;;) {
    const { data, has_more } = await read(page)
    yield* data
    const last = data.at(-1)
    if (!has_more || last === undefined) return
    page = { ...page, starting_after: last.id }
  }
}

export function idOf(object: string | { readonly id: string }): string {
  return typeof object === 'string' ? object : object.id
}
