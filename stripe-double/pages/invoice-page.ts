import { Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'
import { getRow, type World } from '../world.ts'
import { day, money, page } from './html.ts'
import { toPdf } from './pdf.ts'

/** The hosted invoice and its PDF: `/i/:id`, `/i/:id/pdf`. */
export function createInvoicePage(world: World) {
  const app = new Hono()
  const find = (id: string) => getRow(world.state.tables.invoices, id, 'invoice')
  app.get('/i/:id', (context) => context.html(invoicePage(find(context.req.param('id')))))
  app.get('/i/:id/pdf', (context) => {
    const pdf = toPdf(textOf(find(context.req.param('id'))))
    return context.body(pdf, 200, { 'content-type': 'application/pdf' })
  })
  return app
}

function invoicePage(invoice: Stripe.Invoice) {
  const [first = '', ...rest] = textOf(invoice)
  return page(first, html`${rest.map((line) => html`<p>${line}</p>`)}`)
}

function textOf({ number, created, lines, currency, total, amount_due, status }: Stripe.Invoice) {
  return [
    `Invoice ${number ?? '(draft)'}`,
    day(created),
    ...lines.data.map(({ description, amount }) => `${description}: ${money(amount, currency)}`),
    `Total: ${money(total, currency)}`,
    `Due: ${money(amount_due, currency)} (${status})`,
  ]
}
