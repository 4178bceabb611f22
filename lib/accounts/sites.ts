import type { Site } from '../contract/account/account-schemas.ts'
import { and, asc, eq, isNotNull, ne, or, sql } from '../db/drizzle.ts'
import { insertOwned } from '../db/insert-owned.ts'
import type { Db } from '../db/open.ts'
import { ALL_ROWS, type Part } from '../db/part.ts'
import type { Queries } from '../db/queries.ts'
import { sites } from '../db/tables.ts'
import { parseOrigin } from '../parts/net/origin.ts'
import { type AuditEvent, insertAudit } from './audit.ts'
import { changeReceivers, hostOf, withSharingAudit } from './site-receiver.ts'

export type SiteRow = typeof sites.$inferSelect

/** Parses an origin as browsers send it, with an optional slash at the end; null if invalid. */
export function parseSiteName(text: string): string | null {
  return parseOrigin(text.replace(/\/$/, ''))?.origin ?? null
}

type NewSite = Pick<SiteRow, 'userId' | 'name'> & { readonly now: number }

/** `name` must come from `parseSiteName`. */
export function newSite({ userId, name, now }: NewSite): SiteRow {
  const unproven = { provenAt: null, missingSince: null, checkedAt: null, isFirst: false }
  return { id: crypto.randomUUID(), userId, name, host: hostOf(name), createdAt: now, ...unproven }
}

export function toSite({ id, name, userId, createdAt }: SiteRow): Site {
  return { id, name, userId, createdAt: new Date(createdAt).toISOString() }
}

/** Oldest first. Sites of the same millisecond keep the order in which they were added. */
export async function listSites(
  db: Db,
  userId: string,
  { offset, limit }: Part = ALL_ROWS,
): Promise<SiteRow[]> {
  return db
    .select()
    .from(sites)
    .where(eq(sites.userId, userId))
    .orderBy(asc(sites.createdAt), sql`rowid`)
    .limit(limit)
    .offset(offset)
    .all()
}

export async function findSite(db: Db, userId: string, id: string): Promise<SiteRow | null> {
  return (await db.select().from(sites).where(ownedBy(userId, id)).get()) ?? null
}

/** The user's site with this origin or host. For a host, https is preferred to http. */
export async function findSiteByDomain(
  db: Db,
  userId: string,
  domain: string,
): Promise<SiteRow | null> {
  const names = [domain, `https://${domain}`, `http://${domain}`].map(parseSiteName)
  const own = await listSites(db, userId)
  const found = names.map((name) => own.find((site) => site.name === name))
  return found.find((site) => site !== undefined) ?? null
}

/** The audit event of a change of sites, and the base URL of the server. */
export interface SiteChange {
  readonly event: AuditEvent
  readonly baseUrl: string
}

/** Adds the site and its audit event, unless the user has a site of that name or `maxSites` in all. */
export async function addSite(
  db: Db,
  site: SiteRow,
  maxSites: number,
  change: SiteChange,
): Promise<'added' | 'exists' | 'limit-reached'> {
  return changeSites(db, site, change, async (queries) => {
    const row = { ...site, isFirst: await isFirst(queries, site) }
    const target = [sites.userId, sites.name]
    const insert = insertOwned(queries, sites, row, { max: maxSites }).onConflictDoNothing({
      target,
    })
    if ((await insert.run()).changes === 0) {
      return (await isNameTaken(queries, site)) ? 'exists' : 'limit-reached'
    }
    await insertAudit(queries, change.event).run()
    return 'added'
  })
}

/** Whether no other user has registered the origin or proved its host. */
async function isFirst(queries: Queries, { userId, name, host }: SiteRow): Promise<boolean> {
  const isProof = and(eq(sites.host, host), isNotNull(sites.provenAt))
  const isOthers = and(ne(sites.userId, userId), or(eq(sites.name, name), isProof))
  const others = queries.select({ id: sites.id }).from(sites).where(isOthers).limit(1)
  return (await others.get()) === undefined
}

/** Removes the site and adds the audit event. Adds nothing and returns false if the site is gone. */
export async function removeSite(db: Db, site: SiteRow, change: SiteChange): Promise<boolean> {
  return changeSites(db, site, change, async (queries) => {
    const { changes } = await queries.delete(sites).where(ownedBy(site.userId, site.id)).run()
    if (changes > 0) await insertAudit(queries, change.event).run()
    return changes > 0
  })
}

function changeSites<Result>(
  db: Db,
  { host, userId }: SiteRow,
  { event, baseUrl }: SiteChange,
  change: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  const now = event.createdAt
  return changeReceivers(db, host, now, (queries) =>
    withSharingAudit(queries, userId, { baseUrl, now }, () => change(queries)),
  )
}

function ownedBy(userId: string, id: string) {
  return and(eq(sites.id, id), eq(sites.userId, userId))
}

async function isNameTaken(queries: Queries, { userId, name }: SiteRow): Promise<boolean> {
  const sameName = and(eq(sites.userId, userId), eq(sites.name, name))
  return (await queries.select({ id: sites.id }).from(sites).where(sameName).get()) !== undefined
}
