import type Stripe from 'stripe'

/** A price as Stripe has it. Amounts are in the smallest unit of their currency. */
export type StripePrice = Awaited<ReturnType<typeof getPrice>>

export async function getPrice(stripe: Stripe, id: string) {
  const price = await stripe.prices.retrieve(id, { expand: ['currency_options'] })
  const { currency, unit_amount: amount, currency_options } = price
  const others = Object.entries(currency_options ?? {})
    // Stripe lists the currency of the price, too.
    .filter(([other]) => other !== currency)
    .flatMap(([other, { unit_amount }]) =>
      unit_amount === null ? [] : { currency: other, amount: unit_amount },
    )
  /** `amount` is null if it is a fraction of the smallest unit. */
  return { id, currency, amount, currencies: others }
}
