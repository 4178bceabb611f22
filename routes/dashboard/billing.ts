import { ApiError } from '../../lib/errors.ts'
import { Billing, type BillingProps } from '../../pages/dashboard/billing.tsx'
import { GoingOut } from '../../pages/dashboard/going-out.tsx'
import { PlanChange } from '../../pages/dashboard/plan-change.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showPage } from './answer.ts'
import { readForm } from './form.ts'
import { sayOn } from './say-on.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const billingRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/billing', answer: (visit) => showBilling(visit) },
  { method: 'get', path: '/app/billing/change', answer: sayOn(showBilling, showChange) },
  { method: 'post', path: '/app/billing/change', answer: sayOn(showBilling, changePlan) },
  { method: 'post', path: '/app/billing/checkout', answer: sayOn(showBilling, startCheckout) },
  { method: 'post', path: '/app/billing/portal', answer: sayOn(showBilling, openPortal) },
  { method: 'post', path: '/app/billing/cancel', answer: sayOn(showBilling, cancel) },
  { method: 'post', path: '/app/billing/reactivate', answer: sayOn(showBilling, reactivate) },
  { method: 'post', path: '/app/billing/overages', answer: sayOn(showBilling, setOverages) },
]

type Shown = Pick<BillingProps, 'trouble'>

async function showBilling(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { ask, instance, c } = visit
  const [{ plan, subscription }, plans, usage] = await Promise.all([
    ask('getSubscription'),
    ask('listPlans'),
    ask('getUsage'),
  ])
  const done = c.req.query('done') ?? (c.req.query('checkout') === 'done' ? 'paid' : undefined)
  const content = Billing({ base: instance.base, plan, subscription, plans, usage, done, ...shown })
  return showPage(visit, { title: 'Billing', content, status })
}

async function showChange(visit: UserVisit): Promise<PageAnswer> {
  const { ask, instance, c } = visit
  const planId = c.req.query('plan') ?? ''
  const [preview, plans, { plan }] = await Promise.all([
    ask('previewPlanChange', { query: { planId } }),
    ask('listPlans'),
    ask('getSubscription'),
  ])
  const wanted = plans.find(({ id }) => id === planId)
  if (wanted === undefined) throw new ApiError('NOT_FOUND', 'There is no such plan')
  const content = PlanChange({ base: instance.base, from: plan, to: wanted, preview })
  return showPage(visit, { title: 'Change the plan', content })
}

async function changePlan(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  await visit.ask('changePlan', { body: { planId: form.text('plan') } })
  return leadTo(visit, '/app/billing?done=changed')
}

async function startCheckout(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const { url } = await visit.ask('createCheckout', { body: { planId: form.text('plan') } })
  return goOut(visit, url ?? '')
}

async function openPortal(visit: UserVisit): Promise<PageAnswer> {
  const { url } = await visit.ask('openPortal')
  return goOut(visit, url)
}

/** By a page of ours: a form may lead nowhere else, by the policy of the pages. */
function goOut(visit: UserVisit, url: string): Promise<PageAnswer> {
  const content = GoingOut({ base: visit.instance.base, url })
  return showPage(visit, { title: 'On to the payment processor', content })
}

async function cancel(visit: UserVisit): Promise<PageAnswer> {
  await visit.ask('cancelSubscription')
  return leadTo(visit, '/app/billing?done=cancelled')
}

async function reactivate(visit: UserVisit): Promise<PageAnswer> {
  await visit.ask('reactivateSubscription')
  return leadTo(visit, '/app/billing?done=kept')
}

async function setOverages(visit: UserVisit): Promise<PageAnswer> {
  const overagesEnabled = (await readForm(visit.c)).text('overages') === 'on'
  await visit.ask('setOverages', { body: { overagesEnabled } })
  return leadTo(visit, `/app/billing?done=overages-${overagesEnabled ? 'on' : 'off'}`)
}
