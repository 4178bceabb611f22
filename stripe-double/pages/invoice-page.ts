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

/** Adds the hosted invoice, on which it can be paid, and its PDF: `/i/:id`, `/i/:id/pdf`. */
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
  app.get('/i/:id/pdf', (context) => {
    const pdf = toPdf(textOf(find(context.req.param('id'))))
    return context.body(pdf, 200, { 'content-type': 'application/pdf' })
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
  return page(first, html`${lines} ${invoice.status === 'open' ? paymentForm(error) : ''}`)
}

function paymentForm(error: string) {
  return html`${error === '' ? '' : html`<p class="error" role="alert">${error}</p>`}
    <form method="post">
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

/** Makes the smallest PDF that viewers open: one page with these lines. */
function toPdf(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${escapeText(line)}) Tj T*`).join('\n')
  const content = `BT /F1 12 Tf 16 TL 50 780 Td\n${shown}\nET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let pdf = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const place = pdf.length
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${pdf.length}`
  return `${pdf}${table}${trailer}\n%%EOF\n`
}

/** Keeps ASCII only, because the lengths in the file are counted in characters. */
function escapeText(text: string): string {
  return text
    .replaceAll('×', 'x')
    .replace(/[^\x20-\x7e]/g, '?')
    .replace(/[\\()]/g, '\\$&')
}
