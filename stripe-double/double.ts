import type Stripe from 'stripe'
import type { ApiFault } from './http/api-faults.ts'
import type { ApiCall } from './http/call.ts'
import type { CheckoutEntry } from './resources/complete-checkout.ts'
import type { DeliverySwitch } from './webhooks/delivery-switches.ts'
import type { Delivery } from './webhooks/parcels.ts'
import type { World } from './world.ts'

export interface DoubleOptions {
  /** 0: any that is free. */
  readonly port?: number
  /** Real time in milliseconds since 1970; the clock of the double begins there. */
  readonly realNow?: () => number
  readonly retryDelaysMs?: readonly number[]
}

/** A Stripe of one's own on loopback. */
export interface StripeDouble extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly world: World
  /** Seconds since 1970 by the clock of the double. */
  now(): number
  /**
   * Lets time pass: renewals, ends and retries happen in order, each at its moment. Calls of the
   * API do what is due by themselves; `advance(0)` does it without one.
   */
  advance(seconds: number): void
  /** Sends events to `url`, signed by each of `secrets`. */
  addWebhook(url: string, secrets: readonly string[]): void
  /** Sends an event that the double would not make by itself, such as `charge.refunded`. */
  emit(type: string, object: object): void
  deliveries(): readonly Delivery[]
  /** What happens to the next `count` deliveries. */
  switchDeliveries(kind: DeliverySwitch, count?: number): void
  /** Resolves when every delivery has been answered or given up. */
  settled(): Promise<void>
  /** What happens to the next `count` calls of the API. */
  failCalls(fault: ApiFault, count?: number): void
  clearFaults(): void
  /** Pays a checkout session, hosted or embedded, as its customer would in a browser. */
  payCheckout(id: string, entry: CheckoutEntry): Stripe.Checkout.Session
  /** Every call that was answered, in order. */
  calls(): readonly ApiCall[]
}
