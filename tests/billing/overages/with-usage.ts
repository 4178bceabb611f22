import type Stripe from 'stripe'
import { openShop, type Shop, type ShopOptions, SUBSCRIPTION } from '../shop.ts'
import { CAP, overagePlans } from './overages.ts'

export const UNITS = 1_000
/** What they cost, in cents. */
export const COST = 100

/** Buys Pro, turns overages on and uses units of them. */
export async function openWithUsage(
  options: ShopOptions = {},
): Promise<Shop & { readonly id: string }> {
  const shop = await openShop({ ...options, env: { MERIDIAN_PLANS: overagePlans() } })
  await shop.app.services.overages.refreshPrice()
  const { id } = await shop.buy('pro')
  await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
  for (let n = 0; n < CAP + UNITS; n += 1) await shop.send('GET', '/v1/ip/81.2.69.160')
  return { ...shop, id }
}

export const deleteAccount = ({ send }: Shop) =>
  send('POST', '/v1/account/me/delete', { email: 'ada@example.com' })

/** The invoices, oldest first: status, amount and the quantities of the lines. */
export const invoicesOf = ({ double }: Shop) =>
  [...double.world.state.tables.invoices.values()].map(summaryOf)

const summaryOf = ({ status, amount_due, lines }: Stripe.Invoice) => [
  status,
  amount_due,
  lines.data.map(({ quantity }) => quantity),
]
