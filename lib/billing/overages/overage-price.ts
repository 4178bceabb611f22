import type { StoredOveragePrice } from '../../config/overage-terms.ts'
import { overagePrices } from '../../db/billing-tables.ts'
import { eq, ne } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'
import { DAY_MS } from '../../parts/durations.ts'
import { ApiError } from '../../parts/errors.ts'
import { type Billing, notConfigured } from '../billing.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'

/**
 * Returns what one request over the cap costs, as last read from Stripe. Throws BILLING_NOT_CONFIGURED
 * if overages have no price, and BILLING_UNAVAILABLE if the price has not been read yet.
 */
export async function getOveragePrice(billing: Billing): Promise<StoredOveragePrice> {
  if (billing.overagePrice === undefined) throw notConfigured()
  const stored = await findStoredPrice(billing)
  if (stored !== null) return stored
  throw new ApiError(
    'BILLING_UNAVAILABLE',
    'The price of overages is not known yet; try again later',
  )
}

/**
 * Reads the price from Stripe if the stored one is older than a day. Throws BILLING_NOT_CONFIGURED if it
 * is not a price per request.
 */
export async function refreshOveragePrice(billing: Billing, now: number): Promise<void> {
  const { overagePrice } = billing
  if (overagePrice === undefined) return
  const stored = await findStoredPrice(billing)
  const isRecent = stored !== null && Math.abs(now - stored.readAt) < DAY_MS
  if (!isRecent) await readPrice(billing, overagePrice, now)
}

/** Forgets prices other than `id`: until its price is read, nothing is charged. */
export function forgetOtherPrices(db: Db, id: string | undefined): Statement {
  return db.delete(overagePrices).where(ne(overagePrices.id, id ?? ''))
}

async function findStoredPrice({ db, overagePrice }: Billing) {
  const isCurrent = eq(overagePrices.id, overagePrice ?? '')
  return (await db.select().from(overagePrices).where(isCurrent).get()) ?? null
}

async function readPrice(billing: Billing, id: string, readAt: number): Promise<void> {
  const { db } = billing
  const price = await readPerUnit(billing.openStripe(), id)
  if (price === null) {
    await billing.change([db.delete(overagePrices)])
    throw notConfigured('Overages have no metered price per unit')
  }
  const row = { id, ...price, readAt }
  const save = db
    .insert(overagePrices)
    .values(row)
    .onConflictDoUpdate({ target: overagePrices.id, set: row })
  await billing.change([save])
}

/** null unless the price is metered, and the same for each unit. */
async function readPerUnit(stripe: Stripe, id: string): Promise<StoredOveragePrice | null> {
  const price = await stripe.prices.retrieve(id, { expand: ['currency_options'] })
  const { billing_scheme, currency, recurring, transform_quantity, unit_amount_decimal } = price
  const isPerUnit = billing_scheme === 'per_unit' && transform_quantity === null
  if (!isPerUnit || recurring?.usage_type !== 'metered' || unit_amount_decimal === null) return null
  const others = Object.entries(price.currency_options ?? {})
    .filter(([other]) => other !== currency)
    .map(([other, option]) => [other, option.unit_amount_decimal?.toString()])
  const amounts = JSON.stringify(Object.fromEntries(others))
  return { currency, unitAmount: unit_amount_decimal.toString(), others: amounts }
}
