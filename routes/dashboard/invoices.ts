import {
  AddressBody,
  PromoBody,
  TaxIdBody,
} from '../../lib/contract/billing/billing-account-bodies.ts'
import { parse } from '../../lib/parse.ts'
import { Invoices, type InvoicesProps } from '../../pages/dashboard/billing/invoices.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { type Form, readForm } from './request/form.ts'
import { formRoutes } from './request/form-routes.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const PATH = '/app/billing/invoices'

export const invoiceRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showInvoices(visit) },
  ...formRoutes('/app/billing', showInvoices, {
    '/address': async ({ callApi, c }) => {
      await callApi('updateAddress', { body: readAddress(await readForm(c)) })
      return `${PATH}?done=address`
    },
    '/promo': async ({ callApi, c }) => {
      const code = (await readForm(c)).text('code')
      await callApi('applyPromo', { body: parse(PromoBody, { code }) })
      return `${PATH}?done=promo`
    },
    '/tax-ids': async ({ callApi, c }) => {
      const form = await readForm(c)
      const body = parse(TaxIdBody, { type: form.text('type'), value: form.text('value') })
      await callApi('addTaxId', { body })
      return `${PATH}?done=tax-id`
    },
    '/tax-ids/:id/remove': async ({ callApi, c }) => {
      await callApi('deleteTaxId', { params: { id: c.req.param('id') ?? '' } })
      return `${PATH}?done=tax-id-removed`
    },
  }),
]

async function showInvoices(
  visit: UserVisit,
  shown: Pick<InvoicesProps, 'error'> = {},
  status = 200,
): Promise<PageAnswer> {
  const done = visit.c.req.query('done')
  const account = await readAccount(visit)
  const content = Invoices({ base: visit.instance.base, account, done, ...shown })
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
function readAddress(form: Form) {
  const lines = ['line2', 'city', 'state', 'postal_code'].map((name) => [name, form.text(name)])
  return parse(AddressBody, {
    line1: form.text('line1'),
    country: form.text('country').toUpperCase(),
    ...Object.fromEntries(lines.filter(([, value]) => value !== '')),
  })
}
