import type Stripe from 'stripe'
import type { Running } from '../support/process.ts'
import { ask, type ServerShop, SUBSCRIPTION } from './server-shop.ts'

/** The invoices at Stripe, such as `paid 900`, oldest first. */
export function totals({ double }: ServerShop): string[] {
  const { invoices } = double.world.state.tables
  return [...invoices.values()].map(({ status, amount_due }) => `${status} ${amount_due}`)
}

/** Everything that Stripe charges and keeps, without ids. */
export function summaryOf({ double }: ServerShop) {
  const { customers, subscriptions, sessions, invoices, taxIds, paymentMethods } =
    double.world.state.tables
  const cardOf = (id: Stripe.Subscription['default_payment_method']) =>
    paymentMethods.get(String(id))?.card?.last4
  return {
    customers: [...customers.values()].map(({ email, address, balance, invoice_settings }) => ({
      ...{ email, address, balance, card: cardOf(invoice_settings.default_payment_method) },
    })),
    subscriptions: [...subscriptions.values()].map((row) => ({
      prices: row.items.data.map(({ price }) => price.lookup_key),
      overages: row.metadata['meridian_overages'],
      discounts: row.discounts.length,
      isMarked: row.cancel_at !== null,
      card: cardOf(row.default_payment_method),
    })),
    openPages: [...sessions.values()].filter(({ status }) => status === 'open').length,
    invoices: [...invoices.values()].map(({ billing_reason, status, total, amount_paid }) => ({
      ...{ billing_reason, status, total, amount_paid },
    })),
    taxIds: [...taxIds.values()].map(({ value }) => value),
    cards: [...paymentMethods.values()]
      .filter(({ customer }) => customer !== null)
      .map(({ card }) => card?.last4),
    meterEvents: double.world.state.meterEvents.size,
  }
}

/** What the user sees. */
const PAGES = [
  SUBSCRIPTION,
  '/v1/billing/discount',
  '/v1/billing/details',
  '/v1/billing/tax-ids',
  '/v1/billing/payment-method-info',
] as const
/** Fields that differ from run to run. */
const VARYING: readonly string[] = ['id', 'stripePriceId', 'currentPeriodStart', 'currentPeriodEnd']

export async function answersTo(server: Running, key: string): Promise<string[]> {
  const answers: string[] = []
  for (const path of PAGES) {
    const { body } = await ask(server, key, { method: 'GET', path })
    const known = (name: string, value: unknown) => (VARYING.includes(name) ? undefined : value)
    answers.push(JSON.stringify(body, known))
  }
  return answers
}
