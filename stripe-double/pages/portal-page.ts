import type { Context, Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'
import { nameOf } from '../billing/lines.ts'
import { periodOf } from '../billing/period.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import { getRow, liveSubscriptions, rowsOf, type World } from '../world.ts'
import { day, money, page } from './html.ts'

/** Adds the customer portal: `/p/session/:id`. */
export function addPortalPage(app: Hono, world: World): void {
  const act = (context: Context, change: (row: Stripe.Subscription) => void) => {
    const session = getRow(world, 'portalSessions', context.req.param('id') ?? '')
    const row = getRow(world, 'subscriptions', context.req.param('subscription') ?? '')
    if (row.customer !== session.customer) return context.notFound()
    change(row)
    return context.redirect(`/p/session/${session.id}`, 303)
  }
  app.get('/p/session/:id', (context) =>
    context.html(portalPage(world, getRow(world, 'portalSessions', context.req.param('id')))),
  )
  // In flexible billing mode the portal sets `cancel_at` and leaves `cancel_at_period_end` false.
  app.post('/p/session/:id/:subscription/cancel', (context) =>
    act(context, (row) => changeSubscription(world, row, { cancel_at: 'min_period_end' })),
  )
  app.post('/p/session/:id/:subscription/reactivate', (context) =>
    act(context, (row) => changeSubscription(world, row, { cancel_at: '' })),
  )
}

function portalPage(world: World, session: Stripe.BillingPortal.Session) {
  const live = liveSubscriptions(world, session.customer)
  const billed = rowsOf(world, 'invoices').filter(({ customer }) => customer === session.customer)
  return page(
    'Customer portal',
    html`${live.length === 0 ? html`<p>No subscription.</p>` : ''}
      ${live.map((row) => subscriptionPart(world, session, row))}
      <h2>Invoices</h2>
      <ul>
        ${billed.reverse().map((invoice) => invoiceRow(invoice))}
      </ul>
      ${session.return_url === null ? '' : html`<a href="${session.return_url}">Return</a>`}`,
  )
}

function subscriptionPart(
  world: World,
  { id }: Stripe.BillingPortal.Session,
  row: Stripe.Subscription,
) {
  const names = row.items.data.map(({ price }) => nameOf(world, price)).join(', ')
  const [action, label, text] =
    row.cancel_at === null
      ? ['cancel', 'Cancel', `Renews on ${day(periodOf(row).end)}`]
      : ['reactivate', 'Reactivate', `Ends on ${day(row.cancel_at)}`]
  return html`<h2>${names}</h2>
    <p>${row.status}. ${text}</p>
    <form method="post" action="/p/session/${id}/${row.id}/${action}">
      <button>${label}</button>
    </form>`
}

function invoiceRow(invoice: Stripe.Invoice) {
  const { number, created, total, currency, status, hosted_invoice_url: url } = invoice
  const text = `${number ?? 'Draft'}, ${day(created)}, ${money(total, currency)}, ${status}`
  return url ? html`<li><a href="${url}">${text}</a></li>` : html`<li>${text}</li>`
}
