import * as v from 'valibot'
import { readAuditOfAll } from '../../lib/accounts/audit-of-all.ts'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { textUpTo } from '../../lib/contract/common.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { parse } from '../../lib/parts/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import { AuditOfAll } from '../../pages/operate/audit-of-all.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { splitPage } from './paging.ts'

const PAGE_SIZE = 50

/** The form sends empty fields. */
const Day = v.optional(
  v.union([v.literal(''), v.pipe(v.string(), v.isoDate())], 'must be a date'),
  '',
)

const Query = v.object({
  action: v.optional(v.pipe(textUpTo(100), v.trim()), ''),
  user: v.optional(v.pipe(textUpTo(320), v.trim()), ''),
  from: Day,
  to: Day,
  before: v.optional(
    v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/, 'is not a page'), v.transform(Number)),
  ),
})

/** Shows a page of the audit rows of all users, newest first. */
export async function showAuditOfAll(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const { before = Number.MAX_SAFE_INTEGER, ...filter } = parse(Query, c.req.query())
  const wanted = await readAuditFilter(visit)
  const page = { before, limit: PAGE_SIZE + 1 }
  const found = await readAuditOfAll(services.storage.longReads, { ...wanted, ...page })
  const { rows, last } = splitPage(found, PAGE_SIZE)
  const next = last === undefined ? null : String(last.id)
  const content = AuditOfAll({ base: instance.base, filter, entries: rows, next })
  return showOperatePage(visit, { title: 'Audit log', content })
}

/** Which rows the query of the page, or of its file, asks for. */
export async function readAuditFilter({ services, c }: UserVisit) {
  const { action, user, from, to } = parse(Query, c.req.query())
  return {
    action,
    actorId: await findActorId(services, user),
    from: from === '' ? null : Date.parse(from),
    to: to === '' ? null : Date.parse(to) + DAY_MS,
  }
}

/** `text`: an e-mail address, or the id of a user, who may be deleted. */
async function findActorId({ db }: Services, text: string): Promise<string> {
  if (!text.includes('@')) return text
  // No id has an @, so nothing matches an unknown address.
  return (await findUserByEmail(db, text))?.id ?? text
}
