import { notConfigured } from '../../lib/billing/billing.ts'
import type { Mismatch } from '../../lib/billing/mirror/inspect.ts'
import { listAllDuplicates } from '../../lib/billing/subscription/duplicate-rows.ts'
import { endDuplicates } from '../../lib/billing/subscription/end-duplicates.ts'
import type { AuditNote } from '../../lib/contract/account/audit-actions.ts'
import { adviceFor } from '../../lib/doctor/check-mirror.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Repairing } from '../../lib/services/operate/comparison.ts'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import {
  type BillingReport,
  OperateBilling,
  type ShownMismatch,
} from '../../pages/operate/billing.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import { readForm } from '../dashboard/request/form.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, auditForUser, startJob, toJobView } from './action.ts'

const PATH = '/app/operate/billing'
const COMPARE = 'compare_billing'

export const operateBillingRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showBilling(visit) },
  ...actionRoutes(PATH, showBilling, {
    '/compare': async (visit) => {
      const { billing, operatorJobs } = visit.services
      if (!billing.isConfigured) throw notConfigured()
      await startJob(visit, operatorJobs.comparison, { action: COMPARE }, null)
      return PATH
    },
    '/repair': async (visit) => {
      const { billing, operatorJobs } = visit.services
      if (!billing.isConfigured) throw notConfigured()
      const wanted = (await readForm(visit.c)).text('mismatch')
      const note = { action: COMPARE, detail: `repair ${wanted || 'all'}` } as const
      const repairing = toRepairing(visit, wanted)
      if ((await startJob(visit, operatorJobs.comparison, note, repairing)) === 'started')
        return PATH
      throw new ApiError('BAD_REQUEST', 'A comparison is under way: repair after its end')
    },
    '/duplicates/end': async (visit) => {
      const userId = (await readForm(visit.c)).text('user')
      const audit = (note: AuditNote) => auditById(visit, userId, note)
      await endDuplicates(visit.services.billing, { userId, audit })
      return `${PATH}?done=ended`
    },
  }),
]

/** `wanted`: the name of a mismatch; empty: all. */
function toRepairing(visit: UserVisit, wanted: string): Repairing {
  return {
    now: visit.services.now(),
    wants: (mismatch) => wanted === '' || nameOf(mismatch) === wanted,
    audit: (userId, note) => auditById(visit, userId, note),
  }
}

function auditById(visit: UserVisit, id: string, note: AuditNote) {
  return auditForUser(visit, { id, name: `user ${id}` }, note)
}

/** A customer has at most one mismatch of each kind that can be repaired. */
function nameOf({ kind, customer }: Mismatch): string {
  return `${kind} ${customer}`
}

async function showBilling(
  visit: UserVisit,
  shown: { readonly error?: string } = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const content = OperateBilling({
    base: instance.base,
    report: services.billing.isConfigured ? await readReport(visit) : null,
    done: c.req.query('done'),
    ...shown,
  })
  return showOperatePage(visit, { title: 'Billing', content, status })
}

async function readReport({ services }: UserVisit): Promise<BillingReport> {
  const { db, operatorJobs } = services
  const state = operatorJobs.comparison.state()
  const compared = state.last !== null && 'result' in state.last ? state.last.result : null
  const duplicates = await listAllDuplicates(db)
  return {
    comparison: toJobView(state),
    repaired: compared?.repaired ?? 0,
    mismatches: compared?.mismatches.map(toShown) ?? null,
    duplicates: duplicates.map((row) => ({ ...row, periodEnd: isoTime(row.periodEnd) })),
  }
}

function toShown(mismatch: Mismatch): ShownMismatch {
  const advice = mismatch.repair === null ? { advice: adviceFor(mismatch) } : {}
  return { ...mismatch, ...advice, name: nameOf(mismatch) }
}
