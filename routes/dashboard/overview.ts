import { Overview } from '../../pages/dashboard/overview/overview.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { orNull } from './request/call-api.ts'
import type { UserVisit } from './request/visit.ts'

export async function showOverview(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, services } = visit
  const [usage, current, overages] = await Promise.all([
    callApi('getUsage'),
    orNull(callApi('getSubscription', { query: {} })),
    orNull(callApi('getOverages')),
  ])
  const content = Overview({
    base: instance.base,
    url: services.baseUrl(),
    usage,
    plan: current?.plan ?? null,
    overages,
  })
  return showPage(visit, { title: 'Overview', content })
}
