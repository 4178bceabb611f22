import type Stripe from 'stripe'
import { newId } from '../ids.ts'
import type { World } from '../world.ts'
import { BLANK_SESSION } from './blank-session.ts'
import type { CheckoutParam } from './checkout-params.ts'
import { mergeMetadata } from './metadata.ts'

const OPEN_SECONDS = 86_400

interface Content {
  readonly id: string
  readonly amount: number
  readonly discounts: readonly string[]
}

/** An open session: of the hosted page with a URL, of the others with a client secret. */
export function newSession(
  world: World,
  params: CheckoutParam,
  { id, amount, discounts }: Content,
): Stripe.Checkout.Session {
  const { ui_mode = 'hosted_page' } = params
  const isHosted = ui_mode === 'hosted_page'
  return {
    ...BLANK_SESSION,
    ...pagesOf(params),
    id,
    amount_subtotal: amount,
    amount_total: amount,
    client_secret: isHosted ? null : newId(`${id}_secret`),
    created: world.now(),
    discounts: discounts.map((discount) => fromDiscount(world, discount)),
    expires_at: params.expires_at ?? world.now() + OPEN_SECONDS,
    metadata: mergeMetadata({}, params.metadata),
    mode: params.mode,
    ui_mode,
    url: isHosted ? `${world.baseUrl}/c/pay/${id}` : null,
  }
}

/** What is told back as it came, null or Stripe's default where it did not. */
function pagesOf({ return_url, ...params }: CheckoutParam) {
  const told = { enabled: false, ...params.tax_id_collection }
  return {
    allow_promotion_codes: params.allow_promotion_codes ?? null,
    billing_address_collection: params.billing_address_collection ?? null,
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    customer: params.customer ?? null,
    customer_email: params.customer_email ?? null,
    ...(return_url !== undefined && { return_url }),
    success_url: params.success_url ?? null,
    tax_id_collection: { enabled: told.enabled, required: told.required ?? 'never' },
  }
}

function fromDiscount(world: World, id: string): Stripe.Checkout.Session.Discount {
  const discount = world.state.tables.discounts.get(id)
  return {
    coupon: discount?.source.coupon ?? null,
    promotion_code: discount?.promotion_code ?? null,
  }
}
