import type Stripe from 'stripe'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'

/** An empty `name` removes the customer's name. */
interface Contact {
  readonly email?: string
  readonly name?: string
}

export function customerStateCalls(calls: StripeCalls) {
  return {
    /** Whether the account has, or had, the customer. */
    hasCustomer: async (id: string): Promise<boolean> =>
      (await readCustomer(calls, id, [])) !== 'missing',

    /** Changes only the given fields of the customer. */
    updateContact: async (id: string, contact: Contact): Promise<void> => {
      await calls.write((sdk, options) => sdk.customers.update(id, contact, options))
    },
  }
}

/**
 * Stripe remembers deleted customers for good. So a customer that it does not know at all belongs to
 * another account or mode.
 */
export async function readCustomer(
  { read }: StripeCalls,
  id: string,
  expand: string[],
): Promise<Stripe.Customer | 'deleted' | 'missing'> {
  const customer = await read((sdk, options) =>
    sdk.customers.retrieve(id, { expand }, options),
  ).catch(ifMissing(null))
  if (customer === null) return 'missing'
  return customer.deleted ? 'deleted' : customer
}
