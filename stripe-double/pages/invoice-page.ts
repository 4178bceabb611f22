import type { Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'
import { getRow, type World } from '../world.ts'
import { day, money, page } from './html.ts'

/** Adds the hosted invoice and its PDF: `/i/:id`, `/i/:id/pdf`. */
export function addInvoicePage(app: Hono, world: World): void {
  const find = (id: string) => getRow(world, 'invoices', id)
  app.get('/i/:id', (context) => context.html(invoicePage(find(context.req.param('id')))))
  app.get('/i/:id/pdf', (context) => {
    const pdf = toPdf(textOf(find(context.req.param('id'))))
    return context.body(pdf, 200, { 'content-type': 'application/pdf' })
  })
}

function invoicePage(invoice: Stripe.Invoice) {
  const [first = '', ...rest] = textOf(invoice)
  return page(first, html`${rest.map((line) => html`<p>${line}</p>`)}`)
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
