import { notConfigured } from '../../lib/billing/billing.ts'
import { dateOfDay, dayOf, monthOf } from '../../lib/config/period.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { openCsvFile } from '../../lib/services/operate/csv-file.ts'
import {
  exportAudit,
  exportInvoices,
  exportPeople,
  exportUsage,
  type ListExport,
} from '../../lib/services/operate/exports.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { operatorAudit } from './action.ts'
import { readAuditFilter } from './audit.ts'
import { readPeopleFilter } from './people.ts'
import { readMonth } from './usage.ts'

/** The lists of other pages as CSV, with their filters. */
export const exportRoutes: readonly AppRoute<UserVisit>[] = [
  {
    method: 'get',
    path: '/app/operate/people.csv',
    answer: async (visit) => {
      const { after, ...filter } = readPeopleFilter(visit)
      return sendFile(visit, 'people', exportPeople(visit.services, filter))
    },
  },
  {
    method: 'get',
    path: '/app/operate/audit.csv',
    answer: async (visit) => {
      const filter = await readAuditFilter(visit)
      return sendFile(visit, 'audit', exportAudit(visit.services, filter))
    },
  },
  {
    method: 'get',
    path: '/app/operate/usage.csv',
    answer: async (visit) => {
      const month = readMonth(visit)
      const first = dayOf(Date.parse(`${month}-01`))
      return sendFile(visit, `usage-${month}`, exportUsage(visit.services, first))
    },
  },
  {
    method: 'get',
    path: '/app/operate/invoices.csv',
    answer: async (visit) => {
      if (!visit.services.billing.isConfigured) throw notConfigured()
      const period = monthOf(Date.parse(`${readMonth(visit)}-01`))
      const name = `invoices-${dateOfDay(dayOf(period.start)).slice(0, 7)}`
      return sendFile(visit, name, exportInvoices(visit.services, period))
    },
  },
]

/** Reads the first rows before it answers, so that a fault is an error. The audit row says first who takes the data. */
async function sendFile(
  visit: UserVisit,
  name: string,
  { columns, pages }: ListExport,
): Promise<PageAnswer> {
  const { db, log } = visit.services
  const headers = { 'content-disposition': `attachment; filename="${name}.csv"` }
  const answer = { status: 200, type: 'text/csv; charset=utf-8', headers }
  if (visit.c.req.method === 'HEAD') return { ...answer, file: '' }
  const onError = (error: unknown) => log.error({ err: error, list: name }, 'an export broke off')
  const file = await openCsvFile(columns, pages, onError)
  await runInTransaction(db, [operatorAudit(visit, { action: 'export_list', detail: name })])
  return { ...answer, file }
}
