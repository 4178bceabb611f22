import { Overview } from '../../pages/dashboard/overview.tsx'
import type { PageAnswer } from '../page.ts'
import { showPage } from './answer.ts'
import { findPlan } from './find-plan.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const overviewRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app', answer: showOverview },
]

async function showOverview(visit: UserVisit): Promise<PageAnswer> {
  const { ask, instance, services } = visit
  const [usage, plan] = await Promise.all([ask('getUsage'), findPlan(visit)])
  const content = Overview({
    base: instance.base,
    url: services.baseUrl(),
    usage,
    plan: plan?.name ?? null,
  })
  return showPage(visit, { title: 'Overview', content })
}
