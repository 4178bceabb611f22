import type Stripe from 'stripe'
import type { CheckoutResponse } from '../contract/billing-schemas.ts'
import { givesAccess } from '../entitlement.ts'
import { ApiError } from '../errors.ts'
import type { Plan } from '../plans.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { findCustomer } from './customers.ts'
import { type Buyer, customerKey, makeCustomer } from './new-customer.ts'
import { expireOpenSessions } from './open-sessions.ts'
import { getPrice } from './plan-choice.ts'
import { isMissing, type StripeCalls, unavailable } from './stripe-calls.ts'
import type { SubscriptionRow } from './subscriptions.ts'
import { USER_FIELD } from './told.ts'

export interface Wish {
  readonly plan: Plan
  readonly buyer: Buyer
  /** Whether the page of the payment processor is shown in one of the caller's. */
  readonly embedded: boolean
  /** Where the buyer comes back to. */
  readonly pages: { readonly done: string; readonly canceled: string }
}

/** Opens a page where the plan is paid for. Throws ALREADY_SUBSCRIBED where a plan is. */
export async function startCheckout(
  billing: Billing,
  actor: Actor,
  wish: Wish,
): Promise<CheckoutResponse> {
  const calls = billing.begin()
  const price = getPrice(billing.prices, wish.plan)
  return billing.inTurn(actor.userId, async () => {
    const customer = await getFreeCustomer(billing, calls, { ...wish, now: actor.now })
    const session = await calls.write((stripe, options) =>
      stripe.checkout.sessions.create({ ...paramsOf(wish, price), customer }, options),
    )
    const { id: targetId } = wish.plan
    const note = { action: 'create_checkout', targetType: 'plan', targetId, detail: null }
    await billing.change([actor.audit(note)])
    const { url, client_secret: clientSecret } = session
    return { ...(url !== null && { url }), ...(clientSecret !== null && { clientSecret }) }
  })
}

/** The customer that the buyer is, with nothing that is paid for or could be. */
async function getFreeCustomer(
  billing: Billing,
  calls: StripeCalls,
  { buyer, now }: Pick<Wish, 'buyer'> & Pick<Actor, 'now'>,
): Promise<string> {
  // A customer that was deleted would come back by the key that made it.
  for (const key of [customerKey(buyer), crypto.randomUUID()]) {
    const known = await findCustomer(billing.db, buyer.userId)
    const customer = known?.customerId ?? (await makeCustomer(billing, calls, { buyer, now, key }))
    await closeAll(billing, calls, { userId: buyer.userId, customer })
    if ((await findCustomer(billing.db, buyer.userId)) !== null) return customer
  }
  throw unavailable()
}

/** Nobody is to pay twice in two tabs: what could still be paid is closed before more is opened. */
async function closeAll(
  billing: Billing,
  calls: StripeCalls,
  { userId, customer }: { readonly userId: string; readonly customer: string },
): Promise<void> {
  const allExpired = await expireOpenSessions(calls, customer)
  const { after, paysForUnknown } = await billing.sync(calls, userId)
  if (paysForUnknown || (after !== null && givesAccess(after.status))) throw alreadySubscribed()
  // A payment is under way on a page that does not expire any more.
  if (!allExpired) throw unavailable()
  if (after === null) return
  await end(calls, after)
  await billing.sync(calls, userId)
}

/** One that was never or is no longer paid for, and could be paid for beside the new one. */
async function end(calls: StripeCalls, { id }: SubscriptionRow): Promise<void> {
  try {
    await calls.write((stripe, options) => stripe.subscriptions.cancel(id, {}, options))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

function paramsOf({ buyer, pages, embedded }: Wish, price: string) {
  return {
    mode: 'subscription',
    client_reference_id: buyer.userId,
    metadata: { [USER_FIELD]: buyer.userId },
    line_items: [{ price, quantity: 1 }],
    subscription_data: { metadata: { [USER_FIELD]: buyer.userId } },
    allow_promotion_codes: true,
    billing_address_collection: 'required',
    customer_update: { address: 'auto', name: 'auto' },
    tax_id_collection: { enabled: true },
    ...(embedded
      ? { ui_mode: 'embedded_page', return_url: pages.done }
      : { success_url: pages.done, cancel_url: pages.canceled }),
  } satisfies Stripe.Checkout.SessionCreateParams
}

function alreadySubscribed(): ApiError {
  return new ApiError('ALREADY_SUBSCRIBED', 'There is a subscription already: change its plan')
}
