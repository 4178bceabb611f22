import type { Site } from '../contract/account-schemas.ts'
import { and, asc, eq, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { sites, users } from '../db/tables.ts'
import { type Statement, unit } from '../db/unit.ts'
import { parseOrigin } from '../origin.ts'
import { type AuditEvent, insertAudit } from './audit.ts'

export type SiteRow = typeof sites.$inferSelect

/** The origin that `text` stands for, as browsers send it; null: for none. A slash may end it. */
export function parseSiteName(text: string): string | null {
  return parseOrigin(text.replace(/\/$/, ''))?.origin ?? null
}

export interface NewSite {
  readonly userId: string
  /** From `parseSiteName`. */
  readonly name: string
  readonly now: number
}

export function newSite({ userId, name, now }: NewSite): SiteRow {
  return { id: crypto.randomUUID(), userId, name, createdAt: now }
}

export function toSite({ id, name, userId, createdAt }: SiteRow): Site {
  return { id, name, userId, createdAt: new Date(createdAt).toISOString() }
}

/** Oldest first; those of one millisecond as they were added. */
export async function listSites(db: Db, userId: string): Promise<SiteRow[]> {
  return db
    .select()
    .from(sites)
    .where(eq(sites.userId, userId))
    .orderBy(asc(sites.createdAt), sql`rowid`)
    .all()
}

export async function findSite(db: Db, userId: string, id: string): Promise<SiteRow | null> {
  return db.select().from(sites).where(ownedBy(userId, id)).get() ?? null
}

/**
 * Ids of the sites of this name, of all users. Every beacon asks: the database is asked once in each
 * turn of the event loop, in which many come of a busy site.
 */
export function createFindSiteIds({ $client }: Db): (name: string) => readonly string[] {
  const find = $client.prepare<[string], string>('SELECT id FROM sites WHERE name = ?').pluck()
  const found = new Map<string, readonly string[]>()
  return (name) => {
    const known = found.get(name)
    if (known !== undefined) return known
    if (found.size === 0) setImmediate(() => found.clear())
    const ids = find.all(name)
    found.set(name, ids)
    return ids
  }
}

/** The user's site of an origin, or of a host: then the one with https, if there are two. */
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

/**
 * Adds the site with the event that tells of it, unless its user has one of that name, or
 * `maxSites` in all.
 */
export async function addSite(
  db: Db,
  site: SiteRow,
  maxSites: number,
  event: AuditEvent,
): Promise<'added' | 'exists' | 'limit-reached'> {
  if (await unit(db, [insertSite(db, site, maxSites), insertAudit(db, event)])) return 'added'
  return isNameTaken(db, site) ? 'exists' : 'limit-reached'
}

/** Removes the site with the event that tells of it. False: there is none, so nothing is told. */
export async function removeSite(db: Db, site: SiteRow, event: AuditEvent): Promise<boolean> {
  return unit(db, [deleteSite(db, site), insertAudit(db, event)])
}

/** One statement, so that the limit and the name are exact however many run at once. */
function insertSite(db: Db, site: SiteRow, maxSites: number): Statement {
  const owned = db.$count(sites, eq(sites.userId, site.userId))
  return db
    .insert(sites)
    .select(
      db
        .select({
          id: sql<string>`${site.id}`.as('id'),
          userId: users.id,
          name: sql<string>`${site.name}`.as('name'),
          createdAt: sql<number>`${site.createdAt}`.as('created_at'),
        })
        .from(users)
        .where(and(eq(users.id, site.userId), sql`${owned} < ${maxSites}`)),
    )
    .onConflictDoNothing({ target: [sites.userId, sites.name] })
}

function deleteSite(db: Db, { userId, id }: SiteRow): Statement {
  return db.delete(sites).where(ownedBy(userId, id))
}

function ownedBy(userId: string, id: string) {
  return and(eq(sites.id, id), eq(sites.userId, userId))
}

function isNameTaken(db: Db, { userId, name }: SiteRow): boolean {
  const sameName = and(eq(sites.userId, userId), eq(sites.name, name))
  return db.select({ id: sites.id }).from(sites).where(sameName).get() !== undefined
}
