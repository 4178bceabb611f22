import type Stripe from 'stripe'
import { givesAccess } from '../../config/entitlement.ts'
import { idOf, type StripeCalls } from './stripe-calls.ts'
import { USER_FIELD } from './stripe-subscription.ts'

/** A draft or an open invoice that a subscription of ours without access has left. */
export type Leftover = ReturnType<typeof toLeftovers>[number]

type Status = 'draft' | 'open'

const PAGE = 100
const EXPANDED = ['data.parent.subscription_details.subscription']

export function leftoverCalls(calls: StripeCalls) {
  const { read, write } = calls
  return {
    /** A page of what one customer or all (null) left; `next` is null on the last page. */
    listLeftovers: async (status: Status, customer: string | null, after: string | null) => {
      const filter = { ...(customer !== null && { customer }) }
      const rest = { ...(after !== null && { starting_after: after }) }
      const params = { status, limit: PAGE, expand: EXPANDED, ...filter, ...rest }
      const page = await read((sdk, options) => sdk.invoices.list(params, options))
      const next = page.has_more ? (page.data.at(-1)?.id ?? null) : null
      return { leftovers: page.data.flatMap(toLeftovers), next }
    },

    /** The ids of the lines for usage, and of those for a time that goes on after the end. */
    sortLines: async ({ invoice, endedAt }: Leftover, overagePrice = '') => {
      const lines = await readLines(calls, invoice)
      const metered = await findMetered(calls, lines, overagePrice)
      const isUsage = (line: Stripe.InvoiceLineItem) => metered.has(priceOf(line))
      // A draft still gets the last units.
      const usage = lines.filter(
        (line) => isUsage(line) && (invoice.status === 'draft' || line.quantity !== 0),
      )
      const fees = lines.filter((line) => !isUsage(line) && isPaidPast(line, endedAt))
      return { usage: usage.map(({ id }) => id), fees: fees.map(({ id }) => id) }
    },

    /**
     * Lets Stripe collect the invoice, without the lines in `fees`. Stripe finalizes a draft an hour later, when
     * it has the last units: https://docs.stripe.com/invoicing/integration/automatic-advancement-collection
     */
    collect: async ({ invoice: { id } }: Leftover, fees: readonly string[]): Promise<void> => {
      const lines = fees.map((line) => ({ id: line, behavior: 'delete' as const }))
      if (lines.length > 0) {
        await write((sdk, options) => sdk.invoices.removeLines(id, { lines }, options))
      }
      await write((sdk, options) => sdk.invoices.update(id, { auto_advance: true }, options))
    },

    voidInvoice: async (id: string): Promise<void> => {
      await write((sdk, options) => sdk.invoices.voidInvoice(id, {}, options))
    },
  }
}

/** Empty unless the invoice is of a subscription of ours without access. Expects it expanded. */
function toLeftovers(invoice: Stripe.Invoice) {
  const { subscription, metadata } = invoice.parent?.subscription_details ?? {}
  const userId = metadata?.[USER_FIELD]
  if (!userId || typeof subscription !== 'object' || givesAccess(subscription.status)) return []
  const { id: subscriptionId, ended_at } = subscription
  const customerId = idOf(subscription.customer)
  return [{ invoice, userId, customerId, subscriptionId, endedAt: (ended_at ?? 0) * 1000 }]
}

/** An invoice shows only its first lines. */
async function readLines({ read }: StripeCalls, { id, lines }: Stripe.Invoice) {
  let page: Pick<typeof lines, 'data' | 'has_more'> = lines
  const all = [...page.data]
  while (page.has_more) {
    const params = { limit: PAGE, starting_after: all.at(-1)?.id ?? '' }
    page = await read((sdk, options) => sdk.invoices.listLineItems(id, params, options))
    all.push(...page.data)
  }
  return all
}

/** The metered prices: an earlier price of overages may have been replaced in the settings. */
async function findMetered(
  { read }: StripeCalls,
  lines: readonly Stripe.InvoiceLineItem[],
  overagePrice: string,
): Promise<Set<string>> {
  const metered = new Set([overagePrice])
  for (const id of new Set(lines.map(priceOf))) {
    if (id === '' || id === overagePrice) continue
    const { recurring } = await read((sdk, options) => sdk.prices.retrieve(id, {}, options))
    if (recurring?.usage_type === 'metered') metered.add(id)
  }
  return metered
}

function priceOf({ pricing }: Stripe.InvoiceLineItem): string {
  const price = pricing?.price_details?.price
  return price === undefined ? '' : idOf(price)
}

function isPaidPast({ amount, period }: Stripe.InvoiceLineItem, endedAt: number): boolean {
  return amount > 0 && period.end * 1000 > endedAt
}
