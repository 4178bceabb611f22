import { and, eq, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { auditLog, sites, users, verifications } from '../db/tables.ts'
import { insertAudit } from './audit.ts'
import { inSiteTransaction, withReceiverAudit, withSharingAudit } from './site-receiver.ts'
import type { SiteChange } from './sites.ts'

/** Tables that name the user or a site, but have no foreign key that would remove their rows. */
const BY_USER = [
  'usage_by_operation',
  'usage_by_month',
  'usage_by_period',
  'overage_reports',
  'cap_notices',
  'account_mails',
  'inquiries',
] as const
const BY_SITE = [
  'rum_hours',
  'rum_sketches',
  'rum_days',
  'rum_paths',
  'rum_pages',
  'rum_errors',
  'rum_error_samples',
  'rum_counts',
  'rum_attribution',
  'rum_counted',
] as const

/** On PostgreSQL, a row of the journal has beacons of many sites. It is summed up and removed within seconds. */
const SQLITE_JOURNAL = 'rum_journal'

/** The buckets of the user's sessions, of all keys together, and of each key. With OR, PostgreSQL would read all. */
const DELETE_BUCKETS = `DELETE FROM buckets WHERE caller_id IN (
  SELECT ? UNION ALL SELECT ? UNION ALL SELECT id FROM api_keys WHERE user_id = ?)`

/**
 * Deletes the user and everything that belongs to the account, in one transaction. The audit log keeps
 * what was done, when and to which id, but loses labels and details, because they name the person.
 * Returns false if there is no such user.
 */
export async function deleteAccountRows(
  db: Db,
  userId: string,
  { event, baseUrl }: SiteChange,
): Promise<boolean> {
  const now = event.createdAt
  return inSiteTransaction(db, async (queries) => {
    const isOwn = eq(sites.userId, userId)
    const own = await queries.select({ id: sites.id, host: sites.host }).from(sites).where(isOwn)
    const hosts = [...new Set(own.map(({ host }) => host))]
    const bySite = db.engine.dialect === 'sqlite' ? [SQLITE_JOURNAL, ...BY_SITE] : BY_SITE
    const remove = async () => {
      await removeBuckets(queries, userId)
      // Before the counts: on PostgreSQL, this waits for nodes that are writing counts of the user, and makes
      // later writers drop them.
      const { changes } = await queries.delete(users).where(eq(users.id, userId)).run()
      await removeByUser(queries, userId)
      for (const { id } of own) await removeRows(queries, bySite, { column: 'site_id', id })
      return changes > 0
    }
    const isDeleted = await withReceiverAudit(queries, hosts, now, () =>
      withSharingAudit(queries, userId, { baseUrl, now }, remove),
    )
    if (!isDeleted) return false
    await removeFromAudit(queries, userId)
    await insertAudit(queries, event).run()
    return true
  })
}

async function removeBuckets({ execute }: Queries, userId: string): Promise<void> {
  await execute({ sql: DELETE_BUCKETS, params: [`user:${userId}`, `all:${userId}`, userId] })
}

async function removeByUser(queries: Queries, userId: string): Promise<void> {
  await removeRows(queries, BY_USER, { column: 'user_id', id: userId })
  await queries.delete(verifications).where(eq(verifications.value, userId)).run()
}

async function removeRows(
  { execute }: Queries,
  tables: readonly string[],
  { column, id }: { readonly column: 'user_id' | 'site_id'; readonly id: string },
): Promise<void> {
  for (const table of tables) {
    await execute({ sql: `DELETE FROM ${table} WHERE ${column} = ?`, params: [id] })
  }
}

/** A trigger allows these changes, and no other, once the user is gone. */
async function removeFromAudit(queries: Queries, userId: string): Promise<void> {
  const set = { actorLabel: null, detail: null }
  await queries.update(auditLog).set(set).where(eq(auditLog.actorId, userId)).run()
  const isAbout = and(sql`${auditLog.targetType} = 'user'`, eq(auditLog.targetId, userId))
  await queries.update(auditLog).set({ detail: null }).where(isAbout).run()
}
