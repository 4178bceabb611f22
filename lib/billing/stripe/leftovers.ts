import type Stripe from 'stripe'
import { givesAccess } from '../../config/entitlement.ts'
import { ApiError } from '../../parts/errors.ts'
import { idOf, type StripeCalls } from './stripe-calls.ts'
import { ifMissing, StripeRefusal } from './stripe-refusal.ts'
import { USER_FIELD } from './stripe-subscription.ts'

/** An open invoice of a subscription that we sold. */
export interface OpenInvoice {
  readonly id: string
  readonly customerId: string
  /** The user that our metadata of the subscription names. */
  readonly userId: string
  readonly subscriptionId: string
}

const PAGE = 100

/** Calls on the invoices that subscriptions have left unpaid. */
export function leftoverCalls(calls: StripeCalls) {
  const { read, write } = calls
  return {
    /** A page of our open invoices; `next` is null on the last page. */
    listOpen: async (after: string | null) => {
      const rest = after === null ? {} : { starting_after: after }
      const params = { status: 'open', limit: PAGE, ...rest } as const
      const page = await read((sdk, options) => sdk.invoices.list(params, options))
      const next = page.has_more ? (page.data.at(-1)?.id ?? null) : null
      return { invoices: page.data.flatMap(toOpenInvoice), next }
    },

    /**
     * Pays the drafts and open invoices with usage of a subscription that has ended, which Stripe no longer
     * collects. If a payment fails, Stripe tries again. Does nothing if the subscription has not ended.
     */
    collectUsage: async (subscription: string, overagePrice = ''): Promise<void> => {
      if ((await findStatus(calls, subscription)) !== 'canceled') return
      for (const status of ['draft', 'open'] as const) {
        const params = { subscription, status, limit: PAGE }
        const { data } = await read((sdk, options) => sdk.invoices.list(params, options))
        for (const invoice of data) await collectIfUsed(calls, invoice, overagePrice)
      }
    },

    /**
     * Makes the open invoices void that the user's subscriptions without access have left, but for those
     * with usage, which the user owes. A refusal does not hold up the others; it is thrown at the end.
     */
    voidLeftovers: async (
      { customerId: customer, userId }: Pick<OpenInvoice, 'customerId' | 'userId'>,
      overagePrice = '',
    ): Promise<void> => {
      const params = { customer, status: 'open', limit: PAGE } as const
      const { data } = await read((sdk, options) => sdk.invoices.list(params, options))
      const refusals: StripeRefusal[] = []
      for (const invoice of data) {
        if (!(await isWorthless(calls, invoice, { userId, overagePrice }))) continue
        await write((sdk, options) => sdk.invoices.voidInvoice(invoice.id, {}, options)).catch(
          collectRefusals(refusals),
        )
      }
      const [refusal] = refusals
      if (refusal !== undefined) throw refusal
    },
  }
}

/** For `catch`: adds a refusal to the list. */
function collectRefusals(refusals: StripeRefusal[]) {
  return (error: unknown): void => {
    if (!(error instanceof StripeRefusal)) throw error
    refusals.push(error)
  }
}

/** Whether the invoice only charges for time of a subscription that gave the user no access. */
async function isWorthless(
  calls: StripeCalls,
  invoice: Stripe.Invoice,
  { userId, overagePrice }: { readonly userId: string; readonly overagePrice: string },
): Promise<boolean> {
  // The customer may owe the operator something else.
  const ours = toOpenInvoice(invoice).find((one) => one.userId === userId)
  if (ours === undefined) return false
  const status = await findStatus(calls, ours.subscriptionId)
  if (status === null || givesAccess(status)) return false
  return !(await hasUsage(calls, invoice, overagePrice))
}

/** Empty if the invoice is not of a subscription of ours. */
function toOpenInvoice({ id, customer, parent }: Stripe.Invoice): OpenInvoice[] {
  const { subscription, metadata } = parent?.subscription_details ?? {}
  const userId = metadata?.[USER_FIELD]
  if (subscription === undefined || !userId || customer === null) return []
  return [{ id, customerId: idOf(customer), userId, subscriptionId: idOf(subscription) }]
}

/** In Stripe's words, such as `past_due`; null: Stripe does not know the subscription. */
async function findStatus({ read }: StripeCalls, id: string): Promise<string | null> {
  const found = await read((sdk, options) => sdk.subscriptions.retrieve(id, {}, options)).catch(
    ifMissing(null),
  )
  return found === null ? null : found.status
}

/** Whether a line charges for a metered price. An invoice shows only its first lines. */
async function hasUsage(
  { read }: StripeCalls,
  { id, lines }: Stripe.Invoice,
  overagePrice: string,
): Promise<boolean> {
  let page: Pick<typeof lines, 'data' | 'has_more'> = lines
  const prices = new Set(pricesOf(page.data))
  while (page.has_more) {
    const params = { limit: PAGE, starting_after: page.data.at(-1)?.id ?? '' }
    page = await read((sdk, options) => sdk.invoices.listLineItems(id, params, options))
    for (const price of pricesOf(page.data)) prices.add(price)
  }
  if (prices.has(overagePrice)) return true
  // An earlier price of overages may have been replaced in the settings.
  for (const price of prices) {
    const found = await read((sdk, options) => sdk.prices.retrieve(price, {}, options))
    if (found.recurring?.usage_type === 'metered') return true
  }
  return false
}

function pricesOf(lines: readonly Stripe.InvoiceLineItem[]): string[] {
  const charged = lines.filter(({ amount }) => amount > 0)
  return charged.flatMap(({ pricing }) => {
    const price = pricing?.price_details?.price
    return price === undefined ? [] : [idOf(price)]
  })
}

/** Collects an invoice with usage, unless it is open and Stripe still collects it. */
async function collectIfUsed(
  calls: StripeCalls,
  invoice: Stripe.Invoice,
  overagePrice: string,
): Promise<void> {
  const { id, status, auto_advance } = invoice
  if (status === 'open' && auto_advance) return
  if (!(await hasUsage(calls, invoice, overagePrice))) return
  const { write } = calls
  const auto = { auto_advance: true }
  await (status === 'draft'
    ? write((sdk, options) => sdk.invoices.finalizeInvoice(id, auto, options))
    : write((sdk, options) => sdk.invoices.update(id, auto, options)))
  await write((sdk, options) => sdk.invoices.pay(id, {}, options)).catch(ifNotPaid)
}

/** For `catch`: a payment that failed, or was made already, is not repeated. */
function ifNotPaid(error: unknown): void {
  const isAnswer = error instanceof ApiError && error.code === 'PAYMENT_FAILED'
  if (!isAnswer && !(error instanceof StripeRefusal)) throw error
}
