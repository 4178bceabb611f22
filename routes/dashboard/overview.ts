import { Overview } from '../../pages/dashboard/overview.tsx'
import type { PageAnswer } from '../page.ts'
import { showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const overviewRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app', answer: showOverview },
]

async function showOverview(visit: UserVisit): Promise<PageAnswer> {
  const { ask, instance, services } = visit
  const [usage, plan] = await Promise.all([ask('getUsage'), findPlanName(visit)])
  const content = Overview({ base: instance.base, url: services.baseUrl(), usage, plan })
  return showPage(visit, { title: 'Overview', content })
}

/** The overview goes on without it where billing is not to be reached. */
async function findPlanName({ ask }: UserVisit): Promise<string | null> {
  try {
    return (await ask('getSubscription')).plan.name
  } catch (error) {
    refusalOf(error)
    return null
  }
}
