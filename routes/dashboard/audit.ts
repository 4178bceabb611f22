import { Audit, type AuditFilter } from '../../pages/dashboard/audit.tsx'
import type { PageAnswer } from '../page.ts'
import { showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const auditRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/audit', answer: showAudit },
]

const PAGE_SIZE = 50

async function showAudit(visit: UserVisit): Promise<PageAnswer> {
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

/** The first where it is no number of a page. */
function readPage(text = '1'): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}

async function readList({ ask }: UserVisit, { action, search, page }: AuditFilter) {
  try {
    const offset = String((page - 1) * PAGE_SIZE)
    const query = { limit: String(PAGE_SIZE), offset, action, search }
    return { status: 200, list: await ask('listAuditLog', { query }) }
  } catch (error) {
    const { status, message } = refusalOf(error)
    return { status, list: null, trouble: message }
  }
}
