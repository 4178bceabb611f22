import { getCustomer } from './customers.ts'
import type { StripeCalls } from './stripe-calls.ts'

/** A price as Stripe has it. Amounts are in the smallest unit of their currency. */
export type StripePrice = Awaited<ReturnType<ReturnType<typeof priceCalls>['getPrice']>>

export function priceCalls(calls: StripeCalls) {
  const { read } = calls
  return {
    /** The currency in which the customer pays; null: none yet. */
    findCurrency: async (customerId: string): Promise<string | null> =>
      (await getCustomer(calls, customerId)).currency ?? null,

    getPrice: async (id: string) => {
      const params = { expand: ['currency_options'] }
      const { currency, unit_amount, currency_options } = await read((sdk, options) =>
        sdk.prices.retrieve(id, params, options),
      )
      const others = Object.entries(currency_options ?? {})
        // Stripe lists the currency of the price, too.
        .filter(([other]) => other !== currency)
        .flatMap(([other, { unit_amount: amount }]) =>
          amount === null ? [] : { currency: other, amount },
        )
      return {
        id,
        currency,
        /** null if it is a fraction of the smallest unit. */
        amount: unit_amount,
        currencies: others,
      }
    },
  }
}
