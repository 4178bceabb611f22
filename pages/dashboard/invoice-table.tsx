import type { Invoice } from '../../lib/contract/billing-schemas.ts'
import { Time } from './time.tsx'
import { money } from './words.ts'

export function InvoiceTable({ invoices }: { readonly invoices: readonly Invoice[] }) {
  return (
    <section class="card" aria-labelledby="invoices">
      <h2 id="invoices">Invoices</h2>
      {invoices.length === 0 ? (
        <p class="soft">None yet.</p>
      ) : (
        <figure class="wide" aria-labelledby="invoices" tabindex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Number</th>
                <th scope="col">Date</th>
                <th scope="col">Status</th>
                <th scope="col">Due</th>
                <th scope="col">Paid</th>
                <th scope="col">Show</th>
              </tr>
            </thead>
            <tbody>
              {invoices.map((invoice) => (
                <InvoiceRow invoice={invoice} />
              ))}
            </tbody>
          </table>
        </figure>
      )}
    </section>
  )
}

function InvoiceRow({ invoice }: { readonly invoice: Invoice }) {
  const { number, createdAt, status, amountDue, amountPaid, currency } = invoice
  return (
    <tr>
      <th scope="row">{number ?? 'Draft'}</th>
      <td>
        <Time at={createdAt} precision="day" />
      </td>
      <td>{status ?? '–'}</td>
      <td>{money(amountDue, currency)}</td>
      <td>{money(amountPaid, currency)}</td>
      <td>
        <InvoiceLinks invoice={invoice} />
      </td>
    </tr>
  )
}

function InvoiceLinks({ invoice }: { readonly invoice: Invoice }) {
  const { id, number, hostedInvoiceUrl, pdfUrl } = invoice
  const name = number ?? id
  return (
    <span class="links">
      {hostedInvoiceUrl !== null && (
        <a href={hostedInvoiceUrl} rel="noreferrer" aria-label={`Page of invoice ${name}`}>
          Page
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
