import { AddressBody, PromoBody, TaxIdBody } from '../../lib/contract/billing-account-bodies.ts'
import { parse } from '../../lib/parse.ts'
import { Invoices, type InvoicesProps } from '../../pages/dashboard/invoices.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import { readForm } from './form.ts'
import { sayOn } from './say-on.ts'
import type { AppRoute, UserVisit } from './visit.ts'

const PATH = '/app/billing/invoices'

export const invoiceRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showInvoices(visit) },
  { method: 'post', path: '/app/billing/address', answer: sayOn(showInvoices, setAddress) },
  { method: 'post', path: '/app/billing/promo', answer: sayOn(showInvoices, applyPromo) },
  { method: 'post', path: '/app/billing/tax-ids', answer: sayOn(showInvoices, addTaxId) },
  {
    method: 'post',
    path: '/app/billing/tax-ids/:id/remove',
    answer: sayOn(showInvoices, removeTaxId),
  },
]

type Shown = Pick<InvoicesProps, 'trouble'>

async function showInvoices(
  visit: UserVisit,
  shown: Shown = {},
  status = 200,
): Promise<PageAnswer> {
  const done = visit.c.req.query('done')
  const account = await readAccount(visit)
  const content = Invoices({ base: visit.instance.base, account, done, ...shown })
  return showPage(visit, { title: 'Billing', content, status })
}

/** What Stripe has of the user: nothing before the first checkout, or where it cannot be asked. */
async function readAccount({ ask }: UserVisit): Promise<InvoicesProps['account']> {
  try {
    const [invoices, details, card, discount, taxIds] = await Promise.all([
      ask('listInvoices'),
      ask('getBillingDetails'),
      ask('getPaymentMethod'),
      ask('getDiscount'),
      ask('listTaxIds'),
    ])
    return { invoices, details, card, discount, taxIds }
  } catch (error) {
    const { code, message } = refusalOf(error)
    return { missing: code === 'NO_BILLING_ACCOUNT' ? null : message }
  }
}

async function setAddress({ c, ask, ...visit }: UserVisit): Promise<PageAnswer> {
  const form = await readForm(c)
  const lines = ['line2', 'city', 'state', 'postal_code'].map((name) => [name, form.text(name)])
  const wish = {
    line1: form.text('line1'),
    country: form.text('country').toUpperCase(),
    ...Object.fromEntries(lines.filter(([, value]) => value !== '')),
  }
  await ask('updateAddress', { body: parse(AddressBody, wish) })
  return leadTo(visit, `${PATH}?done=address`)
}

async function applyPromo({ c, ask, ...visit }: UserVisit): Promise<PageAnswer> {
  const form = await readForm(c)
  await ask('applyPromo', { body: parse(PromoBody, { code: form.text('code') }) })
  return leadTo(visit, `${PATH}?done=promo`)
}

async function addTaxId({ c, ask, ...visit }: UserVisit): Promise<PageAnswer> {
  const form = await readForm(c)
  const body = parse(TaxIdBody, { type: form.text('type'), value: form.text('value') })
  await ask('addTaxId', { body })
  return leadTo(visit, `${PATH}?done=tax-id`)
}

async function removeTaxId({ c, ask, ...visit }: UserVisit): Promise<PageAnswer> {
  await ask('deleteTaxId', { params: { id: c.req.param('id') ?? '' } })
  return leadTo(visit, `${PATH}?done=tax-id-removed`)
}
