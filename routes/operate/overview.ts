import { readOverview } from '../../lib/services/operate/overview.ts'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import { OverviewOfAll } from '../../pages/operate/overview.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'

/** Shows whether all is well. */
export async function showOverviewOfAll(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance } = visit
  const { last } = services.operatorJobs.doctor.state()
  const content = OverviewOfAll({
    base: instance.base,
    doctorRanAt: isoTime(last?.endedAt ?? null),
    ...(await readOverview(services)),
  })
  return showOperatePage(visit, { title: 'Overview', content })
}
