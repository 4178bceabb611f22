import { hash } from 'node:crypto'
import type Stripe from 'stripe'
import type { StripeCalls } from './stripe-calls.ts'
import { ifStored } from './stripe-refusal.ts'
import { USER_FIELD } from './stripe-subscription.ts'

/** A user who is about to become a customer. */
export interface Buyer {
  readonly userId: string
  readonly email: string
  readonly name: string | null
}

const MAX_PAGE = 100

export function newCustomerCalls(calls: StripeCalls) {
  return {
    /**
     * Returns the id of the buyer's customer, except those in `gone`, and creates it if there is none.
     * Stripe keeps each answer by its key, so a call whose answer was lost is not made twice. A failure
     * that Stripe keeps, or a customer that is gone, has used up its key, and the next key follows.
     */
    createCustomer: async (buyer: Buyer, gone: ReadonlySet<string>): Promise<string> => {
      const { userId, email, name } = buyer
      const known = await findCustomer(calls, buyer, gone)
      if (known !== undefined) return known.id
      const params = { email, ...(name !== null && { name }), metadata: { [USER_FIELD]: userId } }
      for (let attempt = 0; ; attempt += 1) {
        const key = keyOf(params, attempt)
        const created = await calls
          .write((sdk, options) => sdk.customers.create(params, options), key)
          .catch(ifStored)
        if (created !== null && !gone.has(created.id)) return created.id
      }
    },
  }
}

/** Finds a customer whose creation was not answered, or that a restored backup lacks. */
async function findCustomer(
  { read }: StripeCalls,
  { userId, email }: Buyer,
  gone: ReadonlySet<string>,
): Promise<Stripe.Customer | undefined> {
  const params = { email, limit: MAX_PAGE }
  const { data } = await read((sdk, options) => sdk.customers.list(params, options))
  return data.find(({ id, metadata }) => metadata[USER_FIELD] === userId && !gone.has(id))
}

/** Hashes all parameters, since Stripe refuses a known key with different parameters. */
function keyOf(params: object, attempt: number): string {
  return `meridian-customer-${hash('sha256', JSON.stringify(params))}-${attempt}`
}
