import { notConfigured } from '../../lib/billing/billing.ts'
import { type Mismatch, REPAIRABLE } from '../../lib/billing/mirror/reconcile.ts'
import { adviceFor } from '../../lib/doctor/check-mirror.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import {
  type BillingReport,
  OperateBilling,
  type ShownMismatch,
} from '../../pages/operate/billing.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, startJob, toJobView } from './action.ts'
import { lastMonths } from './usage.ts'

const PATH = '/app/operate/billing'

export const operateBillingRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showBilling(visit) },
  ...actionRoutes(PATH, showBilling, {
    '/compare': async (visit) => {
      await start(visit, 'compare')
      return PATH
    },
    '/repair': async (visit) => {
      if ((await start(visit, 'repair')) === 'started') return PATH
      throw new ApiError('BAD_REQUEST', 'A comparison is under way: repair after its end')
    },
  }),
]

async function start(visit: UserVisit, mode: 'compare' | 'repair') {
  const { billing, operatorJobs } = visit.services
  if (!billing.isConfigured) throw notConfigured()
  const note = { action: 'compare_billing', ...(mode === 'repair' && { detail: mode }) } as const
  return startJob(visit, operatorJobs.comparison, note, mode)
}

async function showBilling(
  visit: UserVisit,
  shown: { readonly error?: string } = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance } = visit
  const content = OperateBilling({
    base: instance.base,
    report: services.billing.isConfigured ? readReport(visit) : null,
    months: lastMonths(services.now()),
    ...shown,
  })
  return showOperatePage(visit, { title: 'Billing', content, status })
}

function readReport({ services }: UserVisit): BillingReport {
  const state = services.operatorJobs.comparison.state()
  const compared = state.last !== null && 'result' in state.last ? state.last.result : null
  return {
    comparison: toJobView(state),
    repaired: compared?.repaired ?? 0,
    mismatches: compared?.mismatches.map(toShown) ?? null,
  }
}

function toShown(mismatch: Mismatch): ShownMismatch {
  const canRepair = REPAIRABLE.includes(mismatch.kind)
  return { ...mismatch, canRepair, advice: canRepair ? undefined : adviceFor(mismatch.kind) }
}
