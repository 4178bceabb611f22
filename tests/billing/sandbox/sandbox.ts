import assert from 'node:assert/strict'
import type Stripe from 'stripe'
import { countUnits } from '../../../lib/billing/overages/meter.ts'
import { sendMeterEvent } from '../../../lib/billing/overages/send-report.ts'
import { beginCalls } from '../../../lib/billing/stripe/stripe-calls.ts'
import { createStripe } from '../../../lib/billing/stripe/stripe-sdk.ts'
import { type Catalogue, openCatalogue } from './catalogue.ts'
import { openTestClock, type TestClock } from './test-clock.ts'
import { until } from './until.ts'

export const HOUR = 3_600
export const DAY = 86_400

/** Stripe, or the double at `apiBase`, with what the cases sell. */
export interface Sandbox extends AsyncDisposable {
  readonly sdk: Stripe
  readonly catalogue: Catalogue
  /** Opens the product's own calls, with a new time limit. */
  readonly openStripe: () => Stripe
  /** Makes a clock and a bench of its own for a case. */
  readonly openBench: () => Promise<Bench>
}

export interface SandboxOptions {
  readonly key: string
  /** undefined: Stripe itself. */
  readonly apiBase?: string
  /** When the clocks start, in seconds since 1970. */
  readonly start: number
  /** How long to wait between two looks at what Stripe does in the background. */
  readonly pauseMs: number
}

/** What a case works with. Times are in seconds since 1970, by the clock of the case. */
export interface Bench extends AsyncDisposable {
  readonly sdk: Stripe
  readonly prices: Catalogue['prices']
  readonly meter: string
  readonly openStripe: () => Stripe
  readonly clock: TestClock
  /** Adds a customer on the clock whose default card is the test card of this token. */
  readonly addCustomer: (card?: string) => Promise<string>
  readonly addCard: (customer: string, card: string) => Promise<string>
  readonly subscribe: (
    prices: readonly string[],
    more?: Partial<Stripe.SubscriptionCreateParams>,
  ) => Promise<Subscribed>
  /** Reports the units to the product's meter, and waits until the meter shows them. */
  readonly use: (customer: string, units: number) => Promise<void>
  /** All invoices of the subscription, oldest first, with all their lines. */
  readonly invoicesOf: (subscription: string) => Promise<Stripe.Invoice[]>
  readonly subscriptionOf: (id: string) => Promise<Stripe.Subscription>
  /** The coupon is deleted with the bench. */
  readonly addCoupon: (params: Stripe.CouponCreateParams) => Promise<string>
}

/** A new subscription, and the ids of its parts. */
export interface Subscribed {
  readonly id: string
  readonly customer: string
  /** The item of the first price. */
  readonly item: string
  readonly start: number
  readonly end: number
}

export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { key: secretKey, apiBase } = options
  // The product's own client, so that its cases run the product's own code.
  const stripe = createStripe({ secretKey, apiBase, onFailure: () => {} })
  const openStripe = () => beginCalls(async () => stripe)
  const { sdk } = stripe
  const catalogue = await openCatalogue(sdk)
  return {
    sdk,
    catalogue,
    openStripe,
    openBench: () => openBench({ sdk, catalogue, openStripe }, options),
    [Symbol.asyncDispose]: () => catalogue[Symbol.asyncDispose](),
  }
}

async function openBench(
  { sdk, catalogue, openStripe }: Pick<Sandbox, 'sdk' | 'catalogue' | 'openStripe'>,
  { start, pauseMs }: SandboxOptions,
): Promise<Bench> {
  const opened = new AsyncDisposableStack()
  const clock = opened.use(await openTestClock(sdk, start, pauseMs))
  const addCard = async (customer: string, card: string) =>
    (await sdk.paymentMethods.attach(card, { customer })).id
  const addCustomer = async (card = 'pm_card_visa') => {
    const { id } = await sdk.customers.create({ test_clock: clock.id })
    const settings = { default_payment_method: await addCard(id, card) }
    await sdk.customers.update(id, { invoice_settings: settings })
    return id
  }
  const { meter, prices } = catalogue
  return {
    sdk,
    prices,
    meter,
    openStripe,
    clock,
    addCard,
    addCustomer,
    subscribe: async (wanted, more = {}) => {
      const customer = more.customer ?? (await addCustomer())
      const items = wanted.map((price) => ({ price }))
      const billing_mode = { type: 'flexible' } as const
      return toSubscribed(
        await sdk.subscriptions.create({ customer, items, billing_mode, ...more }),
      )
    },
    use: (customer, units) =>
      use(openStripe, { meter, prices, clock, pauseMs }, { customer, units }),
    invoicesOf: async (subscription) => {
      const { data } = await sdk.invoices.list({ subscription, limit: 100 })
      return data.toReversed()
    },
    subscriptionOf: (id) => sdk.subscriptions.retrieve(id),
    addCoupon: async (params) => {
      const { id } = await sdk.coupons.create(params)
      opened.defer(async () => void (await sdk.coupons.del(id)))
      return id
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function toSubscribed({ id, customer, items }: Stripe.Subscription): Subscribed {
  const [first] = items.data
  assert.ok(first)
  const { current_period_start: start, current_period_end: end } = first
  return { id, customer: String(customer), item: first.id, start, end }
}

interface Meter
  extends Pick<Bench, 'meter' | 'prices' | 'clock'>,
    Pick<SandboxOptions, 'pauseMs'> {}

/** Stripe adds up in the background, so a case that goes on at once would test its speed. */
async function use(
  openStripe: () => Stripe,
  { prices, clock, pauseMs }: Meter,
  { customer, units }: { readonly customer: string; readonly units: number },
): Promise<void> {
  const minute = clock.now() - (clock.now() % 60)
  const span = { start: (minute - 40 * DAY) * 1000, end: (minute + 60) * 1000 }
  const count = () => countUnits(openStripe(), prices.overage, customer, span)
  const before = await count()
  const identifier = `sandbox-${crypto.randomUUID()}`
  const event = { identifier, customerId: customer, units, at: clock.now() * 1000 }
  await sendMeterEvent(openStripe(), event)
  await until(async () => (await count()) === before + units, pauseMs)
}
