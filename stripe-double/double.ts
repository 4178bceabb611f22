import { runDue } from './billing/due.ts'
import { createClock } from './clock.ts'
import { type ApiFault, createApiFaults } from './http/api-faults.ts'
import { newId } from './ids.ts'
import { type CheckoutEntry, completeCheckout } from './resources/checkout/complete-checkout.ts'
import { createState, DUNNING, type Dunning } from './state.ts'
import { createDeliveries } from './webhooks/deliveries.ts'
import type { DeliverySwitch } from './webhooks/delivery-switches.ts'
import { emit, type World } from './world.ts'

export interface DoubleOptions {
  /** 0: any free port. */
  readonly port?: number
  /**
   * Returns the real time in milliseconds since 1970. The clock of the double adds its advances.
   */
  readonly realNow?: () => number
  readonly retryDelaysMs?: readonly number[]
}

/** An API call as received, so that it can be replayed. */
interface ApiCall {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly status: number
  readonly answer: object
}

/** A local stand-in for Stripe. */
export type StripeDouble = ReturnType<typeof createDouble>

const RETRY_DELAYS_MS = [500, 2_000, 10_000]

/** Creates a double for a server at `url`. */
export function createDouble(
  url: string,
  { realNow = Date.now, retryDelaysMs = RETRY_DELAYS_MS }: DoubleOptions,
) {
  const state = createState()
  const clock = createClock(realNow, (until) => runDue(world, clock, until))
  const deliveries = createDeliveries(state, { retryDelaysMs, realNow })
  const faults = createApiFaults()
  const calls: ApiCall[] = []
  const account = newId('acct', 16)
  const world: World = { state, account, baseUrl: url, ...clock, deliver: deliveries.send }
  const tick = () => clock.advance(0)
  return {
    url,
    port: Number(new URL(url).port),
    world,
    /** Seconds since 1970 by the clock of the double. */
    now: clock.now,
    /** Does what has become due since the last call. */
    tick,
    /** Renewals, ends and retries happen in order, each at its own time. */
    advance: clock.advance,
    /** Sends events to `endpoint`, signed by each of `secrets`. */
    addWebhook(endpoint: string, secrets: readonly string[]): void {
      state.webhooks.set(endpoint, secrets)
    },
    /** Sends an event that the double never sends on its own, such as `invoice.upcoming`. */
    emit: (type: string, object: object) => emit(world, type, object),
    deliveries: deliveries.list,
    /** Sets what happens to the next `count` deliveries. */
    switchDeliveries: (kind: DeliverySwitch, count = 1) => deliveries.switchNext(kind, count),
    /** Resolves when every delivery has been answered or abandoned. */
    settled: deliveries.settled,
    /** Sets how the next `count` API calls fail. */
    failCalls: (fault: ApiFault, count = 1) => faults.failNext(fault, count),
    /** Returns the fault for a call with this method, or null. */
    takeFault: faults.take,
    clearFaults: faults.clear,
    /** Sets when a failed payment is tried again, and what happens when the last attempt has failed. */
    setDunning: (policy: Partial<Dunning>) =>
      state.dunning.set('policy', { ...DUNNING, ...policy }),
    /** Pays a checkout session, hosted or embedded, as its customer would in a browser. */
    payCheckout(id: string, entry: CheckoutEntry) {
      tick()
      return completeCheckout(world, id, entry)
    },
    /** Every handled API call, in order. */
    calls: (): readonly ApiCall[] => calls,
    recordCall: (call: ApiCall) => calls.push(call),
    [Symbol.asyncDispose]: deliveries[Symbol.asyncDispose],
  }
}
