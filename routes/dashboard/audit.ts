import { Audit, type AuditFilter } from '../../pages/dashboard/audit/audit.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import type { UserVisit } from './request/visit.ts'

const PAGE_SIZE = 50

export async function showAudit(visit: UserVisit): Promise<PageAnswer> {
  const { instance, c } = visit
  const filter = {
    action: (c.req.query('action') ?? '').trim(),
    search: (c.req.query('search') ?? '').trim(),
    page: readPage(c.req.query('page')),
  }
  const { status, ...read } = await readList(visit, filter)
  const content = Audit({ base: instance.base, filter, ...read })
  return showPage(visit, { title: 'Audit log', content, status })
}

/** Page 1 if the text is not a page number. */
function readPage(text = '1'): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}

async function readList({ callApi }: UserVisit, { action, search, page }: AuditFilter) {
  try {
    const offset = String((page - 1) * PAGE_SIZE)
    const query = { limit: String(PAGE_SIZE), offset, action, search }
    return { status: 200, list: await callApi('listAuditLog', { query }) }
  } catch (error) {
    const { status, message } = errorForPage(error)
    return { status, list: null, error: `${message}.` }
  }
}
