import type Stripe from 'stripe'
import type { StoredOveragePrice } from '../../config/overage-terms.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { IDENTIFIER_USED, StripeRefusal } from './stripe-refusal.ts'

/** The name of the meter's events; docs/overages.md contains it too. */
export const OVERAGE_EVENT = 'meridian_overage'

export interface MeterEvent {
  /** Stripe counts events with the same identifier once, for at least a day. */
  readonly identifier: string
  readonly customerId: string
  readonly units: number
  /** Epoch milliseconds. */
  readonly at: number
}

/** From `start` up to `end`, in epoch milliseconds. */
export interface MeteredTime {
  readonly start: number
  readonly end: number
}

export function overageCalls({ read, write }: StripeCalls) {
  return {
    /** Stripe checks the event at once, but adds it to the sum later. */
    sendMeterEvent: async ({ identifier, customerId, units, at }: MeterEvent): Promise<void> => {
      const event = {
        event_name: OVERAGE_EVENT,
        identifier,
        payload: { stripe_customer_id: customerId, value: String(units) },
        timestamp: new Date(at).toISOString(),
      }
      try {
        await write((sdk, options) => sdk.v2.billing.meterEvents.create(event, options))
      } catch (error) {
        if (!(error instanceof StripeRefusal && error.reason === IDENTIFIER_USED)) throw error
      }
    },

    /** Whether an invoice of the subscription may still change. */
    hasDraft: async (subscription: string): Promise<boolean> => {
      const params = { subscription, status: 'draft', limit: 1 } as const
      return (await read((sdk, options) => sdk.invoices.list(params, options))).data.length > 0
    },

    /**
     * Removes the metered item. Stripe charges its usage now, unless there are no prorations:
     * https://docs.stripe.com/billing/subscriptions/usage-based/manage-billing-setup
     */
    removeItem: async (subscription: string, id: string): Promise<void> => {
      const items = [{ id, deleted: true }]
      const params = { items, proration_behavior: 'always_invoice' } as const
      await write((sdk, options) => sdk.subscriptions.update(subscription, params, options))
    },

    /** Reads the price of one unit; null unless the price is metered, and the same for each unit. */
    readOveragePrice: async (id: string): Promise<StoredOveragePrice | null> => {
      const params = { expand: ['currency_options'] }
      return toOveragePrice(await read((sdk, options) => sdk.prices.retrieve(id, params, options)))
    },

    /** Counts the customer's units at the meter of this price; `start` and `end` are whole minutes. */
    countUnits: async (
      price: string,
      customer: string,
      { start, end }: MeteredTime,
    ): Promise<number> => {
      const { recurring } = await read((sdk, options) => sdk.prices.retrieve(price, {}, options))
      const query = { customer, start_time: start / 1000, end_time: end / 1000 }
      const { data } = await read((sdk, options) =>
        sdk.billing.meters.listEventSummaries(recurring?.meter ?? '', query, options),
      )
      return data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
    },
  }
}

function toOveragePrice(price: Stripe.Price): StoredOveragePrice | null {
  const { billing_scheme, currency, recurring, transform_quantity, unit_amount_decimal } = price
  const isPerUnit = billing_scheme === 'per_unit' && transform_quantity === null
  if (!isPerUnit || recurring?.usage_type !== 'metered' || unit_amount_decimal === null) return null
  const others = Object.entries(price.currency_options ?? {})
    .filter(([other]) => other !== currency)
    .map(([other, option]) => [other, option.unit_amount_decimal?.toString()])
  const amounts = JSON.stringify(Object.fromEntries(others))
  return { currency, unitAmount: unit_amount_decimal.toString(), others: amounts }
}
