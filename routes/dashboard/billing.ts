import { ApiError } from '../../lib/errors.ts'
import { Billing, type BillingProps } from '../../pages/dashboard/billing/billing.tsx'
import { ContinueToStripe } from '../../pages/dashboard/billing/continue-to-stripe.tsx'
import { PlanChange } from '../../pages/dashboard/billing/plan-change.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

export const billingRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/billing', answer: (visit) => showBilling(visit) },
  { method: 'get', path: '/app/billing/change', answer: catchErrors(showBilling, showChange) },
  ...formRoutes('/app/billing', showBilling, {
    '/change': async ({ callApi, c }) => {
      const planId = (await readForm(c)).text('plan')
      await callApi('changePlan', { body: { planId } })
      return '/app/billing?done=changed'
    },
    '/checkout': async (visit) => {
      const planId = (await readForm(visit.c)).text('plan')
      const { url } = await visit.callApi('createCheckout', { body: { planId } })
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
  const hasPaid = c.req.query('checkout') === 'done'
  const { plan, subscription } = await getSubscription(visit, hasPaid ? 'at Stripe' : 'here')
  const [plans, usage] = await Promise.all([callApi('listPlans'), callApi('getUsage')])
  const done = c.req.query('done') ?? (hasPaid ? 'paid' : undefined)
  const content = Billing({ base: instance.base, plan, subscription, plans, usage, done, ...shown })
  return showPage(visit, { title: 'Billing', content, status })
}

/** A buyer who returns sees the plan even if Stripe's events are late. If Stripe fails, the page waits. */
async function getSubscription({ callApi }: UserVisit, where: 'here' | 'at Stripe') {
  if (where === 'at Stripe') {
    try {
      return await callApi('getSubscription', { query: { refresh: 'true' } })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'BILLING_UNAVAILABLE') throw error
    }
  }
  return callApi('getSubscription', { query: {} })
}

async function showChange(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const planId = c.req.query('plan') ?? ''
  const [preview, plans, { plan }] = await Promise.all([
    callApi('previewPlanChange', { query: { planId } }),
    callApi('listPlans'),
    callApi('getSubscription', { query: {} }),
  ])
  const to = plans.find(({ id }) => id === planId)
  if (to === undefined) throw new ApiError('NOT_FOUND', 'Plan not found')
  const content = PlanChange({ base: instance.base, from: plan, to, preview })
  return showPage(visit, { title: 'Change plan', content })
}

/** Links to Stripe from a page of ours, because form-action forbids a redirect to another site. */
function showStripeLink(visit: UserVisit, url: string): Promise<PageAnswer> {
  const content = ContinueToStripe({ base: visit.instance.base, url })
  return showPage(visit, { title: 'Continue to Stripe', content })
}
