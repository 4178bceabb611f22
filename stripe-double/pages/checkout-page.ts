import type { Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'
import { nameOf, priceIn } from '../billing/lines.ts'
import { StripeDoubleError } from '../http/stripe-error.ts'
import { type CheckoutEntry, completeCheckout } from '../resources/checkout/complete-checkout.ts'
import { getRow, type World } from '../world.ts'
import { money, page } from './html.ts'

/** Adds the hosted checkout page: `/c/pay/:id`. */
export function addCheckoutPage(app: Hono, world: World): void {
  app.get('/c/pay/:id', (context) =>
    context.html(checkoutPage(world, getRow(world, 'sessions', context.req.param('id')), '')),
  )
  app.post('/c/pay/:id', async (context) => {
    const form = await context.req.parseBody()
    const session = getRow(world, 'sessions', context.req.param('id'))
    try {
      const paid = completeCheckout(world, session.id, readEntry(form))
      return context.redirect(returnUrl(paid), 303)
    } catch (error) {
      if (!(error instanceof StripeDoubleError)) throw error
      if (error.isActionRequired) return context.html(bankPage(form), 402)
      return context.html(checkoutPage(world, session, error.message), 402)
    }
  })
}

function readEntry(form: Readonly<Record<string, unknown>>): CheckoutEntry {
  const text = (name: string) => String(form[name] ?? '').trim()
  return {
    card: text('card'),
    ...(text('authentication') !== '' && {
      authentication: text('authentication') === 'confirmed' ? 'confirmed' : 'failed',
    }),
    ...(text('promotion_code') !== '' && { promotionCode: text('promotion_code') }),
    ...(text('name') !== '' && { name: text('name') }),
    ...(text('country') !== '' && {
      address: {
        country: text('country').toUpperCase(),
        ...(text('state') !== '' && { state: text('state').toUpperCase() }),
        ...(text('postal_code') !== '' && { postal_code: text('postal_code') }),
      },
    }),
    ...(text('tax_id') !== '' && {
      taxId: { type: text('tax_id_type'), value: text('tax_id') },
    }),
  }
}

function returnUrl({ id, success_url }: Stripe.Checkout.Session): string {
  return (success_url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', id)
}

/** Asks for the confirmation that the card's bank requires. Sends the fields of the first form again. */
function bankPage(form: Readonly<Record<string, unknown>>) {
  const fields = Object.entries(form).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}" />`,
  )
  return page(
    'Your bank',
    html`<form method="post">
      <p>The bank asks you to confirm the payment.</p>
      ${fields}
      <button name="authentication" value="confirmed">Confirm</button>
      <button name="authentication" value="failed">Fail</button>
    </form>`,
  )
}

function checkoutPage(world: World, session: Stripe.Checkout.Session, error: string) {
  if (session.status !== 'open') {
    return page('Checkout', html`<p>This checkout session is ${session.status}.</p>`)
  }
  const { lines = [], currency = '' } = world.state.orders.get(session.id) ?? {}
  return page(
    'Checkout',
    html`<ul>
        ${lines.map(({ price, quantity }) => {
          const amount = money(priceIn(world, price, { quantity, currency }), currency)
          return html`<li>${nameOf(world, price)}: ${amount} per ${price.recurring?.interval}</li>`
        })}
      </ul>
      <form method="post">
        ${cardFields()} ${addressFields(session)} ${codeField(session)} ${taxFields(session)}
        <button>Pay</button>
        ${session.cancel_url === null ? '' : html`<a href="${session.cancel_url}">Cancel</a>`}
      </form>`,
    error,
  )
}

function cardFields() {
  return html`<label>Name <input name="name" autocomplete="name" /></label>
    <label>Card number <input name="card" value="4242 4242 4242 4242" required /></label>
    <p><small>4242 4242 4242 4242 pays, 4000 0000 0000 0002 declines, 4000 0027 6000 3184 asks
        to confirm.</small></p>`
}

function addressFields({ automatic_tax }: Stripe.Checkout.Session) {
  if (!automatic_tax.enabled) return ''
  return html`<label>Country <input name="country" value="DE" autocomplete="country" /></label>
    <label>State <input name="state" autocomplete="address-level1" /></label>
    <label>Postal code <input name="postal_code" autocomplete="postal-code" /></label>`
}

function codeField({ allow_promotion_codes }: Stripe.Checkout.Session) {
  if (allow_promotion_codes !== true) return ''
  return html`<label>Promotion code <input name="promotion_code" /></label>`
}

function taxFields({ tax_id_collection }: Stripe.Checkout.Session) {
  if (tax_id_collection?.enabled !== true) return ''
  return html`<label>Tax id type <input name="tax_id_type" value="eu_vat" /></label>
    <label>Tax id <input name="tax_id" /></label>`
}
