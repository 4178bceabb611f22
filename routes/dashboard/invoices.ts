import {
  AddressBody,
  PromoBody,
  TaxIdBody,
} from '../../lib/contract/billing/billing-account-bodies.ts'
import { listCountries } from '../../lib/geo/place/countries.ts'
import { parse } from '../../lib/parts/parse.ts'
import { Invoices, type InvoicesProps } from '../../pages/dashboard/billing/invoices.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { redirectTo, showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import { formRoutes } from './request/form-routes.ts'
import { toRefusal } from './request/problem.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const PATH = '/app/billing/invoices'
const TAX_ID_FIELDS = { type: 'type', value: 'value' }
const ADDRESS = ['line1', 'line2', 'city', 'state', 'postal_code', 'country'] as const
const ADDRESS_FIELDS = Object.fromEntries(ADDRESS.map((name) => [name, name]))

export const invoiceRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showInvoices(visit) },
  { method: 'post', path: '/app/billing/address', answer: setAddress },
  { method: 'post', path: '/app/billing/promo', answer: applyPromo },
  { method: 'post', path: '/app/billing/tax-ids', answer: addTaxId },
  ...formRoutes('/app/billing', showInvoices, {
    '/tax-ids/:id/remove': async ({ callApi, c }) => {
      await callApi('deleteTaxId', { params: { id: c.req.param('id') ?? '' } })
      return `${PATH}?done=tax-id-removed`
    },
  }),
]

type Shown = Pick<InvoicesProps, 'error' | 'problem' | 'typed'>

async function showInvoices(
  visit: UserVisit,
  shown: Shown = {},
  status = 200,
): Promise<PageAnswer> {
  const done = visit.c.req.query('done')
  const account = await readAccount(visit)
  const given = { base: visit.instance.base, countries: listCountries(), account, done }
  const content = Invoices({ ...given, ...shown })
  return showPage(visit, { title: 'Billing', content, status })
}

/** Loads the user's data from Stripe. Stripe has none before the first checkout. */
async function readAccount({ callApi }: UserVisit): Promise<InvoicesProps['account']> {
  try {
    const [invoices, details, card, discount, taxIds] = await Promise.all([
      callApi('listInvoices'),
      callApi('getBillingDetails'),
      callApi('getPaymentMethod'),
      callApi('getDiscount'),
      callApi('listTaxIds'),
    ])
    return { invoices, details, card, discount, taxIds }
  } catch (error) {
    const { code, message } = errorForPage(error)
    return { missing: code === 'NO_BILLING_ACCOUNT' ? null : message }
  }
}

/** Leaves out empty lines. */
async function setAddress(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const typed = Object.fromEntries(ADDRESS.map((name) => [name, form.text(name)]))
  const lines = Object.entries(typed).filter(([name, value]) => name === 'line1' || value !== '')
  try {
    const country = form.text('country').toUpperCase()
    const body = parse(AddressBody, { ...Object.fromEntries(lines), country })
    await visit.callApi('updateAddress', { body })
    return redirectTo(visit, `${PATH}?done=address`)
  } catch (error) {
    const refused = errorForPage(error)
    return showInvoices(visit, { typed, ...toRefusal(refused, ADDRESS_FIELDS) }, refused.status)
  }
}

async function addTaxId(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const typed = { type: form.text('type'), value: form.text('value') }
  try {
    await visit.callApi('addTaxId', { body: parse(TaxIdBody, typed) })
    return redirectTo(visit, `${PATH}?done=tax-id`)
  } catch (error) {
    const refused = errorForPage(error)
    return showInvoices(visit, { typed, ...toRefusal(refused, TAX_ID_FIELDS) }, refused.status)
  }
}

/** All that Stripe and we refuse is about the only field. */
async function applyPromo(visit: UserVisit): Promise<PageAnswer> {
  const typed = { code: (await readForm(visit.c)).text('code') }
  try {
    await visit.callApi('applyPromo', { body: parse(PromoBody, typed) })
    return redirectTo(visit, `${PATH}?done=promo`)
  } catch (error) {
    const refused = errorForPage(error)
    const why = toRefusal(refused, { code: 'code' })
    const isAboutCode = refused.code === 'BAD_REQUEST' && 'error' in why
    const shown = isAboutCode ? { problem: { field: 'code', text: why.error } } : why
    return showInvoices(visit, { typed, ...shown }, refused.status)
  }
}
