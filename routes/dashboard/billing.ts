import * as v from 'valibot'
import { Interval } from '../../lib/contract/billing/price-schemas.ts'
import { ApiError } from '../../lib/errors.ts'
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
    '/change': async ({ callApi, c }) => {
      const body = readWanted(await readForm(c))
      await callApi('changePlan', { body })
      return '/app/billing?done=changed'
    },
    '/checkout': async (visit) => {
      const body = readWanted(await readForm(visit.c))
      const { url } = await visit.callApi('createCheckout', { body })
      return showStripeLink(visit, url ?? '')
    },
    '/portal': async (visit) => showStripeLink(visit, (await visit.callApi('openPortal')).url),
    '/cancel': async ({ callApi }) => {
      await callApi('cancelSubscription')
      return '/app/billing?done=cancelled'
    },
    '/reactivate': async ({ callApi }) => {
      await callApi('reactivateSubscription')
      return '/app/billing?done=kept'
    },
    '/overages': async ({ callApi, c }) => {
      const overagesEnabled = (await readForm(c)).text('overages') === 'on'
      await callApi('setOverages', { body: { overagesEnabled } })
      return `/app/billing?done=overages-${overagesEnabled ? 'on' : 'off'}`
    },
  }),
]

async function showBilling(
  visit: UserVisit,
  shown: Pick<BillingProps, 'error'> = {},
  status = 200,
): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const [{ plan, subscription }, plans, prices, terms, usage] = await Promise.all([
    callApi('getSubscription'),
    callApi('listPlans'),
    callApi('listPrices'),
    orNull(callApi('getTerms')),
    callApi('getUsage'),
  ])
  const done = c.req.query('done') ?? (c.req.query('checkout') === 'done' ? 'paid' : undefined)
  const { base } = instance
  const loaded = { plan, subscription, plans, prices, terms, usage }
  const content = Billing({ base, ...loaded, done, ...shown })
  return showPage(visit, { title: 'Billing', content, status })
}

async function showChange(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const planId = c.req.query('plan') ?? ''
  const interval = readInterval(c.req.query('interval'))
  const [preview, plans, { plan }] = await Promise.all([
    callApi('previewPlanChange', { query: { planId, interval } }),
    callApi('listPlans'),
    callApi('getSubscription'),
  ])
  const to = plans.find(({ id }) => id === planId)
  if (to === undefined) throw new ApiError('NOT_FOUND', 'Plan not found')
  const content = PlanChange({ base: instance.base, from: plan, to, interval, preview })
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
function showStripeLink(visit: UserVisit, url: string): Promise<PageAnswer> {
  const content = ContinueToStripe({ base: visit.instance.base, url })
  return showPage(visit, { title: 'Continue to Stripe', content })
}
