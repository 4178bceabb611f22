import { subscriptions } from '../../db/billing-tables.ts'
import { count } from '../../db/drizzle.ts'
import type { Queries } from '../../db/queries.ts'
import type { StripePrice } from '../stripe/prices.ts'

/** What all subscriptions are worth. */
export interface Revenue {
  readonly paid: number
  readonly trials: number
  /** Subscriptions whose last payment failed; they are among the paid ones. */
  readonly pastDue: number
  /** In the smallest unit of each currency, for a month, before discounts and tax. */
  readonly monthly: ReadonlyMap<string, number>
  /** Paid subscriptions whose price is not known. */
  readonly unpriced: number
}

type Group = Pick<
  typeof subscriptions.$inferSelect,
  'status' | 'interval' | 'priceId' | 'currency'
> & { readonly users: number }

export async function readRevenue(
  db: Queries,
  findPrice: (id: string) => StripePrice | undefined,
): Promise<Revenue> {
  return sumUp(await selectGroups(db).all(), findPrice)
}

export function selectGroups(db: Queries) {
  const { status, interval, priceId, currency } = subscriptions
  return db
    .select({ status, interval, priceId, currency, users: count() })
    .from(subscriptions)
    .groupBy(status, interval, priceId, currency)
}

const isPaid = ({ status }: Group) => status === 'active' || status === 'past_due'

function sumUp(
  groups: readonly Group[],
  findPrice: (id: string) => StripePrice | undefined,
): Revenue {
  const usersOf = (wanted: (group: Group) => boolean) =>
    groups.filter(wanted).reduce((sum, { users }) => sum + users, 0)
  const monthly = new Map<string, number>()
  let unpriced = 0
  for (const group of groups.filter(isPaid)) {
    const amount = monthlyAmount(group, findPrice)
    if (amount === null) unpriced += group.users
    else monthly.set(amount.currency, (monthly.get(amount.currency) ?? 0) + amount.of)
  }
  return {
    paid: usersOf(isPaid),
    trials: usersOf(({ status }) => status === 'trialing'),
    pastDue: usersOf(({ status }) => status === 'past_due'),
    monthly,
    unpriced,
  }
}

/** What the users of the group pay for a month; null if their price is not known. */
function monthlyAmount(
  { users, interval, priceId, currency }: Group,
  findPrice: (id: string) => StripePrice | undefined,
) {
  const price = priceId === null ? undefined : findPrice(priceId)
  if (price === undefined || currency === null) return null
  const amount = amountIn(price, currency)
  if (amount === null) return null
  return { currency, of: (users * amount) / (interval === 'year' ? 12 : 1) }
}

/** null: the price is not sold in this currency, or costs a fraction of its smallest unit. */
function amountIn(price: StripePrice, currency: string): number | null {
  if (price.currency === currency) return price.amount
  return price.currencies.find((other) => other.currency === currency)?.amount ?? null
}
