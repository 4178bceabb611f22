import type { Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'
import { atomically } from '../atomic.ts'
import type { Payment } from '../billing/charge-card.ts'
import { payOpenInvoice } from '../billing/pay-open-invoice.ts'
import { badRequest, StripeDoubleError } from '../http/stripe-error.ts'
import { addCard, findCard } from '../resources/cards.ts'
import { getRow, type World } from '../world.ts'
import { day, money, page } from './html.ts'

/** Adds the hosted invoice, on which it can be paid: `/i/:id`. */
export function addInvoicePage(app: Hono, world: World): void {
  const find = (id: string) => getRow(world, 'invoices', id)
  app.get('/i/:id', (context) => context.html(invoicePage(find(context.req.param('id')), '')))
  app.post('/i/:id', async (context) => {
    const { card, authentication } = await context.req.parseBody()
    const invoice = find(context.req.param('id'))
    try {
      payOnPage(world, invoice, {
        card: String(card ?? ''),
        authentication: authentication === 'confirmed' ? 'confirmed' : 'none',
      })
      return context.redirect(`/i/${invoice.id}`, 303)
    } catch (error) {
      if (!(error instanceof StripeDoubleError)) throw error
      return context.html(invoicePage(invoice, error.message), 402)
    }
  })
}

function payOnPage(
  world: World,
  invoice: Stripe.Invoice,
  { card, authentication }: { readonly card: string } & Pick<Payment, 'authentication'>,
): void {
  atomically(world, (inner) => {
    const found = card === '' ? null : findCard(card)
    if (card !== '' && found === null) throw badRequest('Your card number is incorrect.')
    const method = found && addCard(inner, found, String(invoice.customer)).id
    payOpenInvoice(inner, invoice, { authentication, ...(method !== null && { method }) })
  })
}

function invoicePage(invoice: Stripe.Invoice, error: string) {
  const [first = '', ...rest] = textOf(invoice)
  const lines = rest.map((line) => html`<p>${line}</p>`)
  return page(first, html`${lines} ${invoice.status === 'open' ? paymentForm() : ''}`, error)
}

function paymentForm() {
  return html`<form method="post">
      <label>Card number (empty: the saved card) <input name="card" /></label>
      <p>If the bank asks for confirmation, your answer is:</p>
      <button name="authentication" value="confirmed">Pay and confirm</button>
      <button name="authentication" value="failed">Pay, but fail to confirm</button>
    </form>`
}

function textOf(invoice: Stripe.Invoice) {
  const { number, created, lines, currency, total, total_taxes, amount_due, status } = invoice
  return [
    `Invoice ${number ?? '(draft)'}`,
    day(created),
    ...lines.data.map(({ description, amount }) => `${description}: ${money(amount, currency)}`),
    ...(total_taxes ?? []).map(
      ({ amount, tax_behavior, taxability_reason }) =>
        `Tax, ${tax_behavior} (${taxability_reason}): ${money(amount, currency)}`,
    ),
    `Total: ${money(total, currency)}`,
    `Due: ${money(amount_due, currency)} (${status})`,
  ]
}
