import type { AuditLogEntry, AuditQuery } from '../contract/account-schemas.ts'
import { and, count, desc, eq, gte, inArray, lt, type SQL, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { auditLog } from '../db/tables.ts'

export interface AuditPage {
  readonly logs: AuditLogEntry[]
  /** All entries that match, on any page. */
  readonly total: number
}

/**
 * One page of what `actorId` did, newest first. An index is walked once in all, from new to old:
 * over what is skipped, over the page, over the rest. Rows are only ever added, and at the new end,
 * so the three parts fit together although others write in between.
 */
export async function readAuditPage(
  db: Db,
  actorId: string,
  { limit, offset, ...wanted }: AuditQuery,
): Promise<AuditPage> {
  const filter = toFilter(actorId, wanted)
  const skipped = skip(db, filter, offset)
  if (skipped.count < offset) return { logs: [], total: skipped.count }
  const logs = readEntries(db, { ...filter, before: skipped.last }, limit)
  const last = logs.at(-1)
  const total = offset + logs.length
  if (last === undefined || logs.length < limit) return { logs, total }
  return { logs, total: total + countRows(db, { ...filter, before: last.id }) }
}

interface Filter {
  /** Named, since the planner prefers an index without the text, and then reads every row. */
  readonly index: string
  readonly where: SQL | undefined
}

/** What matches the filter and is older than the row with the id `before`. */
interface Range extends Filter {
  readonly before: number
}

const NEWEST = Number.MAX_SAFE_INTEGER
const NEWEST_FIRST = desc(auditLog.id)

/** An empty text filters nothing. */
function toFilter(
  actorId: string,
  { action, search }: Pick<AuditQuery, 'action' | 'search'>,
): Filter {
  const own = eq(auditLog.actorId, actorId)
  if (search) {
    const first = action ? startsWith(action) : undefined
    return { index: 'audit_log_by_text', where: and(own, first, contains(search)) }
  }
  if (!action) return { index: 'audit_log_by_actor', where: own }
  return { index: 'audit_log_by_action', where: and(own, eq(auditLog.action, action)) }
}

/** Whether the first line of the text is `action`. The text is in lower case, as actions are. */
function startsWith(action: string): SQL | undefined {
  // No action has two lines, and those of the text are not only the action.
  if (action.includes('\n')) return sql`FALSE`
  return and(gte(auditLog.searchText, `${action}\n`), lt(auditLog.searchText, `${action}\v`))
}

/** How often LIKE may look at one character of the text; see `contains`. */
const MAX_LOOKS = 4

/**
 * Whether the text has `search` in it, without regard to the case of A to Z. LIKE is the faster one
 * as a rule, but where `search` may begin it compares anew, as far as it matches: to look for
 * `aaa…b` in many `a` takes seconds. It also takes U+0000 for the end of a text.
 */
function contains(search: string): SQL {
  const [start = ''] = search.toLowerCase()
  const looks = search.toLowerCase().split(start).length - 1
  if (looks > MAX_LOOKS || search.includes('\0')) {
    return sql`instr(${auditLog.searchText}, lower(${search})) > 0`
  }
  const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql`${auditLog.searchText} LIKE ${pattern} ESCAPE '\\'`
}

/** Walks over the newest `offset` rows. Tells how many there are, and the id of the last of them. */
function skip(db: Db, filter: Filter, offset: number): { count: number; last: number } {
  const none = { count: 0, last: NEWEST }
  if (offset === 0) return none
  const newest = selectIds(db, { ...filter, before: NEWEST })
    .orderBy(NEWEST_FIRST)
    .limit(offset)
    .as('newest')
  const last = sql<number>`coalesce(min(${newest.id}), ${NEWEST})`
  return db.select({ count: count(), last }).from(newest).get() ?? none
}

/** The ids come from the index alone, and only the rows of the page are read. */
function readEntries(db: Db, range: Range, limit: number): AuditLogEntry[] {
  return db
    .select({
      id: auditLog.id,
      app: auditLog.app,
      actor_id: auditLog.actorId,
      actor_label: auditLog.actorLabel,
      action: auditLog.action,
      target_type: auditLog.targetType,
      target_id: auditLog.targetId,
      detail: auditLog.detail,
      created_at: sql<number>`${auditLog.createdAt} / 1000`,
    })
    .from(auditLog)
    .where(inArray(auditLog.id, selectIds(db, range).orderBy(NEWEST_FIRST).limit(limit)))
    .orderBy(NEWEST_FIRST)
    .all()
}

function countRows(db: Db, range: Range): number {
  const rest = selectIds(db, range).as('rest')
  return db.select({ count: count() }).from(rest).get()?.count ?? 0
}

function selectIds(db: Db, { index, where, before }: Range) {
  return db
    .select({ id: sql<number>`${auditLog.id}`.as('id') })
    .from(sql`${auditLog} INDEXED BY ${sql.identifier(index)}`)
    .where(and(where, lt(auditLog.id, before)))
}
