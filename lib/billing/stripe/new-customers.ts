import { hash } from 'node:crypto'
import type Stripe from 'stripe'
import { USER_FIELD } from './metadata.ts'
import { MAX_PAGE } from './stripe-calls.ts'
import { ifMissing, ifStored, StripeDenial, StripeRefusal } from './stripe-refusal.ts'

/** A user who is about to become a customer. */
export interface Buyer {
  readonly userId: string
  readonly email: string
  readonly name: string | null
}

/**
 * Returns the id of the buyer's customer. Creates one if there is none, or if it is in `gone`. A lost
 * answer does not lead to a second customer, even if the buyer's name or address has changed since:
 * Stripe repeats the answer to the same idempotency key for a day, and after that the search finds it.
 */
export async function createCustomer(
  stripe: Stripe,
  buyer: Buyer,
  gone: ReadonlySet<string>,
): Promise<string> {
  const customer =
    (await findCustomer(stripe, buyer, gone)) ?? (await create(stripe, buyer.userId, gone))
  await setContact(stripe, customer, buyer)
  return customer.id
}

/**
 * A key is used up if Stripe keeps a failure under it, or if its customer is gone: then the next key is
 * tried. Stripe refuses a known key with other parameters, so they contain nothing that can change.
 */
async function create(
  stripe: Stripe,
  userId: string,
  gone: ReadonlySet<string>,
): Promise<Stripe.Customer> {
  const params = { metadata: { [USER_FIELD]: userId } }
  for (let attempt = 0; ; attempt += 1) {
    const key = `meridian-customer-${hash('sha256', userId)}-${attempt}`
    const created = await stripe.customers.create(params, { idempotencyKey: key }).catch(ifStored)
    if (created !== null && !gone.has(created.id)) return created
  }
}

/**
 * Keeps a name that the customer has entered at Stripe for invoices. Ignores a deleted customer, because
 * Stripe repeats the answer of its creation even then.
 */
async function setContact(
  stripe: Stripe,
  { id, ...known }: Stripe.Customer,
  { email, name }: Buyer,
): Promise<void> {
  const changes = {
    ...(known.email !== email && { email }),
    ...(!known.name && name !== null && { name }),
  }
  if (Object.keys(changes).length === 0) return
  await stripe.customers.update(id, changes).catch(ifMissing(null))
}

/** Finds a customer that our database lacks: the answer was lost, or a backup was restored. */
async function findCustomer(
  stripe: Stripe,
  buyer: Buyer,
  gone: ReadonlySet<string>,
): Promise<Stripe.Customer | undefined> {
  const found = (await search(stripe, buyer)) ?? (await listByEmail(stripe, buyer))
  return found.find(({ id, metadata }) => metadata[USER_FIELD] === buyer.userId && !gone.has(id))
}

/** null: Stripe offers no search in India, or the key may not use it. */
async function search(stripe: Stripe, { userId }: Buyer): Promise<Stripe.Customer[] | null> {
  const query = `metadata['${USER_FIELD}']:'${userId.replaceAll(/[\\']/g, '\\$&')}'`
  try {
    return (await stripe.customers.search({ query, limit: MAX_PAGE })).data
  } catch (error) {
    if (error instanceof StripeRefusal || error instanceof StripeDenial) return null
    throw error
  }
}

async function listByEmail(stripe: Stripe, { email }: Buyer): Promise<Stripe.Customer[]> {
  return (await stripe.customers.list({ email, limit: MAX_PAGE })).data
}
