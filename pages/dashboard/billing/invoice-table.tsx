import type { Child } from 'hono/jsx'
import type { Invoice } from '../../../lib/contract/billing/billing-schemas.ts'
import { Table } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { money } from '../parts/money.ts'
import { Time } from '../parts/time.tsx'

const HEADS = ['Number', 'Date', 'Status', 'Amount due', 'Of which tax', 'Amount paid', 'Links']

export function InvoiceTable({ invoices }: { readonly invoices: readonly Invoice[] }) {
  return (
    <Card id="invoices" title="Invoices">
      {invoices.length === 0 ? (
        <p class="soft">No invoices yet.</p>
      ) : (
        <figure class="wide stacked" aria-labelledby="invoices" tabindex={0}>
          <Table isStacked heads={HEADS} rows={invoices.map(cellsOf)} />
        </figure>
      )}
    </Card>
  )
}

function cellsOf(invoice: Invoice): Child[] {
  const { number, createdAt, status, amountDue, amountPaid, tax, currency } = invoice
  return [
    number ?? 'Draft',
    <Time at={createdAt} precision="day" />,
    status ?? '–',
    money(amountDue, currency),
    tax === undefined ? '–' : money(tax, currency),
    money(amountPaid, currency),
    <InvoiceLinks invoice={invoice} />,
  ]
}

function InvoiceLinks({ invoice }: { readonly invoice: Invoice }) {
  const { id, number, hostedInvoiceUrl, pdfUrl } = invoice
  const name = number ?? id
  return (
    <span class="links">
      {hostedInvoiceUrl !== null && (
        <a href={hostedInvoiceUrl} rel="noreferrer" aria-label={`View invoice ${name}`}>
          View
        </a>
      )}
      {pdfUrl !== null && (
        <a href={pdfUrl} rel="noreferrer" aria-label={`PDF of invoice ${name}`}>
          PDF
        </a>
      )}
    </span>
  )
}
