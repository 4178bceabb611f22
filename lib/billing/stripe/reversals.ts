import type Stripe from 'stripe'
import { idOf, type StripeCalls } from './stripe-calls.ts'

/** The events about payments that go back to the customer. Their effects do not show in a subscription. */
export const REVERSAL_EVENTS: readonly string[] = [
  'charge.dispute.closed',
  'charge.dispute.created',
  'charge.refunded',
]

/** A refunded or disputed payment, as Stripe has it now. Amounts are in the smallest unit. */
export interface Reversal {
  /** null if the payment has no customer. */
  readonly customerId: string | null
  /** The refund's or dispute's part of the payment. */
  readonly amount: number
  readonly paid: number
  readonly currency: string
  /** The status of the dispute, such as `lost`; null for a refund. */
  readonly dispute: string | null
  /** The subscription that a lost payment was for; null if there is none, or if it is not lost. */
  readonly lostSubscription: string | null
}

const PAGE = 100

export function reversalCalls(calls: StripeCalls) {
  const { read } = calls
  return {
    /** Reads a charge, the object of `charge.refunded`. */
    getRefund: async (id: string): Promise<Reversal> => {
      const charge = await read((sdk, options) => sdk.charges.retrieve(id, {}, options))
      return {
        ...partsOf(charge),
        amount: charge.amount_refunded,
        dispute: null,
        lostSubscription: null,
      }
    },

    getDispute: async (id: string): Promise<Reversal> => {
      const params = { expand: ['charge'] }
      const dispute = await read((sdk, options) => sdk.disputes.retrieve(id, params, options))
      const charge = await getCharge(calls, dispute.charge)
      const isLost = dispute.status === 'lost'
      return {
        ...partsOf(charge),
        amount: dispute.amount,
        dispute: dispute.status,
        lostSubscription: isLost ? await findSubscription(calls, charge) : null,
      }
    },

    /** The events about refunds and disputes since `since`, in epoch milliseconds, oldest first. */
    listReversalEvents: async (since: number): Promise<Stripe.Event[]> => {
      const all: Stripe.Event[] = []
      const filter = { types: [...REVERSAL_EVENTS], created: { gte: Math.floor(since / 1000) } }
      let after: string | undefined
      do {
        const params = {
          ...filter,
          limit: PAGE,
          ...(after !== undefined && { starting_after: after }),
        }
        const { data, has_more } = await read((sdk, options) => sdk.events.list(params, options))
        all.push(...data)
        after = has_more ? data.at(-1)?.id : undefined
      } while (after !== undefined)
      return all.reverse()
    },
  }
}

async function getCharge({ read }: StripeCalls, charge: Stripe.Dispute['charge']) {
  if (typeof charge !== 'string') return charge
  return read((sdk, options) => sdk.charges.retrieve(charge, {}, options))
}

function partsOf({ customer, amount, currency }: Stripe.Charge) {
  return { customerId: customer && idOf(customer), paid: amount, currency }
}

/** A charge names its payment; the payment's invoice names the subscription. */
async function findSubscription(
  { read }: StripeCalls,
  { payment_intent: payment }: Stripe.Charge,
): Promise<string | null> {
  if (payment === null) return null
  const params = {
    payment: { type: 'payment_intent', payment_intent: idOf(payment) },
    expand: ['data.invoice'],
  }
  const { data } = await read((sdk, options) => sdk.invoicePayments.list(params, options))
  const [invoice] = data.map((one) => one.invoice)
  if (invoice === undefined || typeof invoice === 'string' || invoice.deleted) return null
  const subscription = invoice.parent?.subscription_details?.subscription ?? null
  return subscription && idOf(subscription)
}
