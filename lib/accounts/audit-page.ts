import type { AuditList, AuditLogEntry, AuditQuery } from '../contract/account/account-schemas.ts'
import { and, count, desc, eq, gte, inArray, lt, type SQL, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { auditLog } from '../db/tables.ts'

/**
 * Reads one page of the entries of `actorId`, newest first. Walks an index once, from new to old, in
 * three queries: over the skipped entries, the page and the rest. They fit together even if another
 * process writes in between, because rows are only ever added at the new end.
 */
export async function readAuditPage(
  db: Queries,
  actorId: string,
  { limit, offset, ...wanted }: AuditQuery,
): Promise<Pick<AuditList, 'logs' | 'total'>> {
  const filter = toFilter(actorId, wanted)
  const skipped = await skip(db, filter, offset)
  if (skipped.count < offset) return { logs: [], total: skipped.count }
  const logs = await readEntries(db, { ...filter, before: skipped.last }, limit)
  const last = logs.at(-1)
  const total = offset + logs.length
  if (last === undefined || logs.length < limit) return { logs, total }
  return { logs, total: total + (await countRows(db, { ...filter, before: last.id })) }
}

interface Filter {
  /** Named, because SQLite would choose an index without the text, and read every row. */
  readonly index: string
  readonly where: SQL | undefined
}

/** Matching entries older than the row with the id `before`. */
interface Range extends Filter {
  readonly before: number
}

const NEWEST = Number.MAX_SAFE_INTEGER
const NEWEST_FIRST = desc(auditLog.id)

/** An empty `action` or `search` is ignored. */
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

/** Whether the first line of the text is `action`. Both are in lower case. */
function startsWith(action: string): SQL | undefined {
  // Actions have one line, so nothing matches.
  if (action.includes('\n')) return sql`FALSE`
  return and(gte(auditLog.searchText, `${action}\n`), lt(auditLog.searchText, `${action}\v`))
}

/** How often `search` may contain its first character before LIKE is too slow; see `contains`. */
const MAX_REPEATS = 4

/**
 * Whether the text contains `search`, ignoring the case of A to Z. LIKE is usually faster than instr,
 * but starts a comparison at every character where `search` may begin: finding `aaa…b` among many `a`
 * takes seconds. LIKE also treats U+0000 as the end of the text.
 */
function contains(given: string): SQL {
  // The texts are stored like this. PostgreSQL's LIKE distinguishes case, and its lower() may change more than A to Z.
  const search = given.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const [start = ''] = search
  const repeats = search.split(start).length - 1
  if (repeats > MAX_REPEATS || search.includes('\0')) {
    return sql`instr(${auditLog.searchText}, ${search}) > 0`
  }
  const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql`${auditLog.searchText} LIKE ${pattern} ESCAPE '\\'`
}

/** Walks over the newest `offset` rows. Returns how many exist, and the id of the last one. */
async function skip(
  db: Queries,
  filter: Filter,
  offset: number,
): Promise<{ count: number; last: number }> {
  const none = { count: 0, last: NEWEST }
  if (offset === 0) return none
  const newest = selectIds(db, { ...filter, before: NEWEST })
    .orderBy(NEWEST_FIRST)
    .limit(offset)
    .as('newest')
  const last = sql<number>`coalesce(min(${newest.id}), ${NEWEST})`
  return (await db.select({ count: count(), last }).from(newest).get()) ?? none
}

/** The columns of an entry, as the API has them. Times are in seconds. */
export const ENTRY = {
  id: auditLog.id,
  app: auditLog.app,
  actor_id: auditLog.actorId,
  actor_label: auditLog.actorLabel,
  action: auditLog.action,
  target_type: auditLog.targetType,
  target_id: auditLog.targetId,
  detail: auditLog.detail,
  created_at: sql<number>`${auditLog.createdAt} / 1000`,
}

/** The ids come from the index; only the rows of the page are read. */
async function readEntries(db: Queries, range: Range, limit: number): Promise<AuditLogEntry[]> {
  return db
    .select(ENTRY)
    .from(auditLog)
    .where(inArray(auditLog.id, selectIds(db, range).orderBy(NEWEST_FIRST).limit(limit)))
    .orderBy(NEWEST_FIRST)
    .all()
}

async function countRows(db: Queries, range: Range): Promise<number> {
  const rest = selectIds(db, range).as('rest')
  return (await db.select({ count: count() }).from(rest).get())?.count ?? 0
}

function selectIds(db: Queries, { index, where, before }: Range) {
  return db
    .select({ id: sql<number>`${auditLog.id}`.as('id') })
    .from(sql`${auditLog} INDEXED BY ${sql.identifier(index)}`)
    .where(and(where, lt(auditLog.id, before)))
}
