import * as v from 'valibot'
import { findCustomer } from '../../lib/billing/subscription/customers.ts'
import { Interval } from '../../lib/contract/billing/price-schemas.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { Billing, type BillingProps } from '../../pages/dashboard/billing/billing.tsx'
import { ContinueToStripe } from '../../pages/dashboard/billing/continue-to-stripe.tsx'
import { PlanChange } from '../../pages/dashboard/billing/plan-change.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { orNull } from './request/call-api.ts'
import { type Form, readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

export const billingRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/billing', answer: (visit) => showBilling(visit) },
  { method: 'get', path: '/app/billing/change', answer: catchErrors(showBilling, showChange) },
  ...formRoutes('/app/billing', showBilling, {
    '/change': async (visit) => {
      const { callApi, c } = visit
      const body = readWanted(await readForm(c))
      const { confirmation } = await callApi('changePlan', { body })
      if (confirmation === undefined) return '/app/billing?done=changed'
      return showStripeLink(visit, confirmation.url, 'confirm')
    },
    '/checkout': async (visit) => {
      const body = readWanted(await readForm(visit.c))
      const { url } = await visit.callApi('createCheckout', { body })
      return showStripeLink(visit, url ?? '', 'pay')
    },
    '/portal': async (visit) =>
      showStripeLink(visit, (await visit.callApi('openPortal')).url, 'pay'),
    '/cancel': async ({ callApi }) => {
      await callApi('cancelSubscription')
      return '/app/billing?done=cancelled'
    },
    '/reactivate': async ({ callApi }) => {
      await callApi('reactivateSubscription')
      return '/app/billing?done=kept'
    },
  }),
]

export async function showBilling(
  visit: UserVisit,
  shown: Pick<BillingProps, 'error'> = {},
  status = 200,
): Promise<PageAnswer> {
  const { callApi, instance, services, me, c } = visit
  const hasPaid = c.req.query('checkout') === 'done'
  const { plan, subscription } = await getSubscription(visit, hasPaid ? 'at Stripe' : 'here')
  const [plans, prices, terms, usage, overages, customer] = await Promise.all([
    callApi('listPlans'),
    callApi('listPrices'),
    orNull(callApi('getTerms')),
    callApi('getUsage'),
    orNull(callApi('getOverages')),
    findCustomer(services.db, me.id),
  ])
  const isCustomer = customer !== null
  const done = c.req.query('done') ?? (hasPaid ? 'paid' : undefined)
  const payUrl = NOT_PAID.includes(subscription?.status ?? '') ? await findPayUrl(visit) : undefined
  const operatePath = visit.isOperator ? `/app/operate/people/${encodeURIComponent(me.id)}` : null
  const { isAnySold } = services.billing.prices
  const bought = { plan, subscription, terms, usage, overages, isCustomer, payUrl }
  const content = Billing({
    base: instance.base,
    plans,
    prices,
    isAnySold,
    operatePath,
    ...bought,
    interval: readInterval(c.req.query('interval')),
    done,
    ...shown,
  })
  return showPage(visit, { title: 'Billing', content, status })
}

/**
 * Asks Stripe when a buyer returns, so that the page shows the plan even if Stripe's events are late. If
 * Stripe does not answer, the page shows what is known here.
 */
async function getSubscription({ callApi, session }: UserVisit, where: 'here' | 'at Stripe') {
  if (where === 'at Stripe') {
    try {
      const current = await callApi('getSubscription', { query: { refresh: 'true' } })
      // The user may have another plan now.
      session.verifyAgain()
      return current
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'BILLING_UNAVAILABLE') throw error
    }
  }
  return callApi('getSubscription', { query: {} })
}

/** The statuses in our API of a subscription that waits for a payment. */
const NOT_PAID = ['past_due', 'incomplete']

/**
 * The page of the newest open invoice, which makes the subscription active again: older ones may be of others.
 * If Stripe does not answer, the page shows no link.
 */
async function findPayUrl({ callApi }: UserVisit): Promise<string | undefined> {
  const invoices = await callApi('listInvoices').catch(() => [])
  return invoices.find(({ status }) => status === 'open')?.hostedInvoiceUrl ?? undefined
}

async function showChange(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const planId = c.req.query('plan') ?? ''
  const interval = readInterval(c.req.query('interval'))
  const [preview, plans, prices, terms, { plan }] = await Promise.all([
    callApi('previewPlanChange', { query: { planId, interval } }),
    callApi('listPlans'),
    callApi('listPrices'),
    orNull(callApi('getTerms')),
    callApi('getSubscription', { query: {} }),
  ])
  const to = plans.find(({ id }) => id === planId)
  if (to === undefined) throw new ApiError('NOT_FOUND', 'Plan not found')
  const offer = prices.find((one) => one.planId === planId)
  const wanted = { from: plan, to, interval, preview, offer, terms }
  const content = PlanChange({ base: instance.base, ...wanted })
  return showPage(visit, { title: 'Change plan', content })
}

function readWanted(form: Form) {
  const interval = readInterval(form.text('interval'))
  return { planId: form.text('plan'), ...(interval !== undefined && { interval }) }
}

function readInterval(text: string | undefined): Interval | undefined {
  return v.is(Interval, text) ? text : undefined
}

/** Links to Stripe from a page of ours, because form-action forbids a redirect to another site. */
function showStripeLink(
  visit: UserVisit,
  url: string,
  purpose: 'pay' | 'confirm',
): Promise<PageAnswer> {
  const content = ContinueToStripe({ base: visit.instance.base, url, purpose })
  return showPage(visit, { title: 'Continue to Stripe', content })
}
