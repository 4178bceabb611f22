import { ApiError } from '../../lib/parts/errors.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import { showAuditOfAll } from './audit.ts'
import { operateBillingRoutes } from './billing.ts'
import { databaseRoutes } from './databases.ts'
import { exportRoutes } from './exports.ts'
import { inquiryRoutes } from './inquiries.ts'
import { noticeRoutes } from './notices.ts'
import { showOverviewOfAll } from './overview.ts'
import { peopleRoutes } from './people.ts'
import { personRoutes } from './person.ts'
import { showAllSites } from './sites.ts'
import { systemRoutes } from './system.ts'
import { showUsageOfAll } from './usage.ts'

const ROUTES: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/operate', answer: showOverviewOfAll },
  ...peopleRoutes,
  ...personRoutes,
  { method: 'get', path: '/app/operate/sites', answer: showAllSites },
  { method: 'get', path: '/app/operate/usage', answer: showUsageOfAll },
  { method: 'get', path: '/app/operate/audit', answer: showAuditOfAll },
  ...exportRoutes,
  ...databaseRoutes,
  ...systemRoutes,
  ...operateBillingRoutes,
  ...inquiryRoutes,
  ...noticeRoutes,
]

/** The pages for operators. Everybody else gets 404. */
export const operateRoutes: readonly AppRoute<UserVisit>[] = ROUTES.map((route) => ({
  ...route,
  answer: async (visit) => {
    if (!visit.isOperator) throw new ApiError('NOT_FOUND', 'No such page')
    return route.answer(visit)
  },
}))
