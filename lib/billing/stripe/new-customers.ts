import { hash } from 'node:crypto'
import type Stripe from 'stripe'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing, ifStored, StripeDenial, StripeRefusal } from './stripe-refusal.ts'
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
     * Stripe keeps each answer by its key for a day, and then its search finds the customer. So a call
     * whose answer was lost is not made twice, even if the e-mail address or name has changed since.
     */
    createCustomer: async (buyer: Buyer, gone: ReadonlySet<string>): Promise<string> => {
      const customer =
        (await findCustomer(calls, buyer, gone)) ?? (await create(calls, buyer.userId, gone))
      await setContact(calls, customer, buyer)
      return customer.id
    },
  }
}

/**
 * A failure that Stripe keeps, or a customer that is gone, has used up its key, and the next key follows.
 * Stripe refuses a known key with other parameters: they may contain nothing that can change.
 */
async function create(
  { write }: StripeCalls,
  userId: string,
  gone: ReadonlySet<string>,
): Promise<Stripe.Customer> {
  const params = { metadata: { [USER_FIELD]: userId } }
  for (let attempt = 0; ; attempt += 1) {
    const key = `meridian-customer-${hash('sha256', userId)}-${attempt}`
    const created = await write((sdk, options) => sdk.customers.create(params, options), key).catch(
      ifStored,
    )
    if (created !== null && !gone.has(created.id)) return created
  }
}

/**
 * The customer may have entered another name at Stripe, for invoices, or be deleted: Stripe still repeats
 * the answer of its creation.
 */
async function setContact(
  { write }: StripeCalls,
  { id, ...known }: Stripe.Customer,
  { email, name }: Buyer,
): Promise<void> {
  const changes = {
    ...(known.email !== email && { email }),
    ...(!known.name && name !== null && { name }),
  }
  if (Object.keys(changes).length === 0) return
  await write((sdk, options) => sdk.customers.update(id, changes, options)).catch(ifMissing(null))
}

/** Finds a customer whose creation was not answered, or that a restored backup lacks. */
async function findCustomer(
  calls: StripeCalls,
  buyer: Buyer,
  gone: ReadonlySet<string>,
): Promise<Stripe.Customer | undefined> {
  const found = (await search(calls, buyer)) ?? (await listByEmail(calls, buyer))
  return found.find(({ id, metadata }) => metadata[USER_FIELD] === buyer.userId && !gone.has(id))
}

/** null: Stripe offers no search in India, or the key may not use it. */
async function search({ read }: StripeCalls, { userId }: Buyer): Promise<Stripe.Customer[] | null> {
  const query = `metadata['${USER_FIELD}']:'${userId.replaceAll(/[\\']/g, '\\$&')}'`
  try {
    const params = { query, limit: MAX_PAGE }
    return (await read((sdk, options) => sdk.customers.search(params, options))).data
  } catch (error) {
    if (error instanceof StripeRefusal || error instanceof StripeDenial) return null
    throw error
  }
}

async function listByEmail({ read }: StripeCalls, { email }: Buyer): Promise<Stripe.Customer[]> {
  const params = { email, limit: MAX_PAGE }
  return (await read((sdk, options) => sdk.customers.list(params, options))).data
}
