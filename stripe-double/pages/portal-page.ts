import type { Context, Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'
import { atomically } from '../atomic.ts'
import { nameOf } from '../billing/lines.ts'
import { periodOf } from '../billing/period.ts'
import { badRequest, declined, StripeDoubleError } from '../http/stripe-error.ts'
import { addCard, findCard, setUpCard } from '../resources/cards.ts'
import { toAddress } from '../resources/customers.ts'
import { addTaxId } from '../resources/tax-ids.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import { changeRow, getRow, liveSubscriptions, rowsOf, type World } from '../world.ts'
import { day, money, page } from './html.ts'

type Session = Stripe.BillingPortal.Session
type Entry = Readonly<Record<string, string>>

/** What the customer can change, by the last part of the form's path. */
const CHANGES: Readonly<Record<string, (world: World, customer: string, entry: Entry) => void>> = {
  card: payWith,
  address: (world, id, { country = '', postal_code = '', line1 = '' }) => {
    const address = toAddress({ country: country.toUpperCase(), postal_code, line1 })
    changeRow(world, getRow(world, 'customers', id), { address }, 'customer.updated')
  },
  'tax-id': (world, id, { type = '', value = '' }) => void addTaxId(world, id, { type, value }),
  // In flexible billing mode the portal sets `cancel_at` and leaves `cancel_at_period_end` false.
  cancel: (world, id, { subscription = '' }) =>
    void changeSubscription(world, getOwn(world, id, subscription), {
      cancel_at: 'min_period_end',
    }),
  reactivate: (world, id, { subscription = '' }) =>
    void changeSubscription(world, getOwn(world, id, subscription), { cancel_at: '' }),
}

/** Adds the customer portal: `/p/session/:id`. */
export function addPortalPage(app: Hono, world: World): void {
  const find = (context: Context) => getRow(world, 'portalSessions', context.req.param('id') ?? '')
  app.get('/p/session/:id', (context) => context.html(portalPage(world, find(context), '')))
  app.post('/p/session/:id/:change', async (context) => {
    const session = find(context)
    const change = CHANGES[context.req.param('change')]
    if (change === undefined) return context.notFound()
    const form = Object.entries(await context.req.parseBody())
    const entry = Object.fromEntries(form.map(([name, value]) => [name, String(value).trim()]))
    try {
      atomically(world, (inner) => change(inner, session.customer, entry))
      return context.redirect(`/p/session/${session.id}`, 303)
    } catch (error) {
      if (!(error instanceof StripeDoubleError)) throw error
      return context.html(portalPage(world, session, error.message), 402)
    }
  })
}

function getOwn(world: World, customer: string, id: string): Stripe.Subscription {
  const row = getRow(world, 'subscriptions', id)
  if (row.customer !== customer) throw badRequest(`No such subscription: '${id}'`)
  return row
}

/** Makes a new card the default of the customer only: the card of a subscription still pays for it. */
function payWith(world: World, customer: string, { card: number = '' }: Entry): void {
  const card = findCard(number)
  if (card === null) throw badRequest('Your card number is incorrect.')
  if (card.behaviour === 'refused') throw declined()
  const { id } = addCard(world, card, customer)
  setUpCard(world, id)
  const row = getRow(world, 'customers', customer)
  const invoice_settings = { ...row.invoice_settings, default_payment_method: id }
  changeRow(world, row, { invoice_settings }, 'customer.updated')
}

function portalPage(world: World, session: Session, error: string) {
  const { customer, return_url } = session
  const live = liveSubscriptions(world, customer)
  const billed = rowsOf(world, 'invoices').filter((invoice) => invoice.customer === customer)
  return page(
    'Customer portal',
    html`${live.length === 0 ? html`<p>No subscription.</p>` : ''}
      ${live.map((row) => subscriptionPart(world, session, row))}
      <h2>Payment method</h2>
      <p>${cardOf(world, customer, live)}</p>
      ${form(session, 'card', 'Add card', { card: 'Card number' })} ${details(world, session)}
      <h2>Invoices</h2>
      <ul id="invoices">
        ${billed.reverse().map((invoice) => invoiceRow(invoice))}
      </ul>
      ${return_url === null ? '' : html`<a href="${return_url}">Return</a>`}`,
    error,
  )
}

function subscriptionPart(world: World, session: Session, row: Stripe.Subscription) {
  const names = row.items.data.map(({ price }) => nameOf(world, price)).join(', ')
  const [action, label, text] =
    row.cancel_at === null
      ? ['cancel', 'Cancel', `Renews on ${day(periodOf(row).end)}`]
      : ['reactivate', 'Reactivate', `Ends on ${day(row.cancel_at)}`]
  return html`<h2>${names}</h2>
    <p>${row.status}. ${text}</p>
    <form method="post" action="/p/session/${session.id}/${action}">
      <button name="subscription" value="${row.id}">${label}</button>
    </form>`
}

/** Like Stripe, names the card of the subscription before that of the customer. */
function cardOf(world: World, customer: string, live: readonly Stripe.Subscription[]): string {
  const { invoice_settings } = getRow(world, 'customers', customer)
  const id = live[0]?.default_payment_method ?? invoice_settings.default_payment_method
  const { card } = world.state.tables.paymentMethods.get(String(id)) ?? {}
  return card === undefined ? 'None' : `${card.brand} ending in ${card.last4}`
}

function details(world: World, session: Session) {
  const { address } = getRow(world, 'customers', session.customer)
  const own = rowsOf(world, 'taxIds').filter(({ customer }) => customer === session.customer)
  const lines = [address?.line1, address?.postal_code, address?.country].filter(Boolean)
  return html`<h2>Billing information</h2>
    <p>${lines.length === 0 ? 'No address' : lines.join(', ')}</p>
    ${form(session, 'address', 'Save address', {
      line1: 'Address',
      postal_code: 'Postal code',
      country: 'Country, such as DE',
    })}
    <ul>
      ${own.map(({ type, value }) => html`<li>${type} ${value}</li>`)}
    </ul>
    ${form(session, 'tax-id', 'Add tax id', { type: 'Type, such as eu_vat', value: 'Tax id' })}`
}

/** A form with these fields, each with its label. */
function form(session: Session, change: string, button: string, fields: Entry) {
  return html`<form method="post" action="/p/session/${session.id}/${change}">
    ${Object.entries(fields).map(
      ([name, label]) => html`<label>${label} <input name="${name}" /></label>`,
    )}
    <button>${button}</button>
  </form>`
}

function invoiceRow(invoice: Stripe.Invoice) {
  const { number, created, amount_due, amount_paid, currency, hosted_invoice_url: url } = invoice
  const sums = `${money(amount_due, currency)} due, ${money(amount_paid, currency)} paid`
  const text = `${number ?? 'Draft'}: ${day(created)} ${invoice.status}, ${sums}`
  return url ? html`<li><a href="${url}">${text}</a></li>` : html`<li>${text}</li>`
}
