import type Stripe from 'stripe'
import { OVERAGE_EVENT } from '../../../lib/billing/overages/send-report.ts'

/** What the cases sell, in cents. */
export const STARTER = 900
export const PRO = 2_900
export const BIG = 9_900
export const PRO_YEAR = 29_000
export const UNIT = 50

export interface Catalogue extends AsyncDisposable {
  readonly meter: string
  readonly prices: {
    readonly starter: string
    readonly pro: string
    readonly big: string
    readonly proYearly: string
    /** One unit of the meter. */
    readonly overage: string
  }
}

/** Makes products, prices and the meter. Archives them at the end: Stripe deletes none that were sold. */
export async function openCatalogue(sdk: Stripe): Promise<Catalogue> {
  const opened = new AsyncDisposableStack()
  const addProduct = async (name: string) => {
    const { id } = await sdk.products.create({ name: `Meridian sandbox ${name}` })
    opened.defer(async () => void (await sdk.products.update(id, { active: false })))
    return id
  }
  const addPrice = async (params: Omit<Stripe.PriceCreateParams, 'currency'>) => {
    const { id } = await sdk.prices.create({ currency: 'usd', ...params })
    opened.defer(async () => void (await sdk.prices.update(id, { active: false })))
    return id
  }
  try {
    const meter = opened.use(await openMeter(sdk)).id
    const [plan, overage] = [await addProduct('plan'), await addProduct('overage')]
    const monthly = (product: string, unit_amount: number) =>
      addPrice({ product, unit_amount, recurring: { interval: 'month' } })
    const prices = {
      starter: await monthly(plan, STARTER),
      pro: await monthly(plan, PRO),
      big: await monthly(plan, BIG),
      proYearly: await addPrice({
        product: plan,
        unit_amount: PRO_YEAR,
        recurring: { interval: 'year' },
      }),
      overage: await addPrice({
        product: overage,
        unit_amount: UNIT,
        recurring: { interval: 'month', usage_type: 'metered', meter },
      }),
    }
    return { meter, prices, [Symbol.asyncDispose]: () => opened.disposeAsync() }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/**
 * The product's events have one name, and only one active meter may count them. So a meter that the
 * account has already is used and left as it was.
 */
async function openMeter({ billing: { meters } }: Stripe) {
  const { data } = await meters.list({ limit: 100 })
  const ours = data.filter(({ event_name }) => event_name === OVERAGE_EVENT)
  const known = ours.find(({ status }) => status === 'active') ?? ours[0]
  if (known?.status === 'active') return { id: known.id, [Symbol.asyncDispose]: async () => {} }
  const { id } =
    known === undefined
      ? await meters.create({
          display_name: 'Meridian overages',
          event_name: OVERAGE_EVENT,
          default_aggregation: { formula: 'sum' },
        })
      : await meters.reactivate(known.id)
  return { id, [Symbol.asyncDispose]: async () => void (await meters.deactivate(id)) }
}
