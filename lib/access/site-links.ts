import { randomBytes } from 'node:crypto'
import { and, asc, eq, gt, isNull, lte, sql } from '../db/drizzle.ts'
import { insertOwned } from '../db/insert-owned.ts'
import type { Db } from '../db/open.ts'
import { siteLinks } from '../db/site-tables.ts'
import { sites, users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'
import { hashToken } from './session-token.ts'

export type SiteLinkRow = typeof siteLinks.$inferSelect

/** How many days a link may work. */
export const LINK_DAYS = [7, 30, 90] as const
/** The links of a site that work at the same time. */
export const MAX_LINKS = 5

const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/

interface NewLink extends Pick<SiteLinkRow, 'userId' | 'siteId'> {
  readonly days: (typeof LINK_DAYS)[number]
  readonly now: number
}

/** Makes a link: its token of 256 random bits, which is shown once, and the row to store. */
export function mintSiteLink({ userId, siteId, days, now }: NewLink) {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const times = { createdAt: now, expiresAt: now + days * DAY_MS }
  const link = { id: crypto.randomUUID(), userId, siteId, hash: hashToken(token), ...times }
  return { token, link }
}

/** Adds the link unless its site has `MAX_LINKS` that work. */
export function insertSiteLink(db: Db, link: SiteLinkRow): Statement {
  const { siteId, createdAt } = link
  const counted = sql`${siteLinks.siteId} = ${siteId} AND ${siteLinks.expiresAt} > ${createdAt}`
  return insertOwned(db, siteLinks, link, { max: MAX_LINKS, counted })
}

/** Removes the links that no longer work. */
export function removeExpiredLinks(db: Db, now: number): Statement {
  return db.delete(siteLinks).where(lte(siteLinks.expiresAt, now))
}

/** The links of the site that work, the one that ends first at the top. */
export async function listSiteLinks(
  db: Db,
  { userId, siteId }: Pick<SiteLinkRow, 'userId' | 'siteId'>,
  now: number,
): Promise<SiteLinkRow[]> {
  const isOwn = and(eq(siteLinks.siteId, siteId), eq(siteLinks.userId, userId))
  return db
    .select()
    .from(siteLinks)
    .where(and(isOwn, gt(siteLinks.expiresAt, now)))
    .orderBy(asc(siteLinks.expiresAt), asc(siteLinks.id))
    .all()
}

/** The user's link with the name of its site; null if there is none. */
export async function findSiteLink(db: Db, userId: string, id: string) {
  const found = db
    .select({ id: siteLinks.id, siteId: sites.id, site: sites.name })
    .from(siteLinks)
    .innerJoin(sites, eq(sites.id, siteLinks.siteId))
    .where(and(eq(siteLinks.id, id), eq(siteLinks.userId, userId)))
  return (await found.get()) ?? null
}

export function deleteSiteLink(db: Db, userId: string, id: string): Statement {
  return db.delete(siteLinks).where(and(eq(siteLinks.id, id), eq(siteLinks.userId, userId)))
}

/**
 * What the link with this token shows: a site, and whose it is. null if there is no such link, it has expired, or
 * the account is disabled. Reads the database each time, so that a revoked link ends on all nodes at once.
 */
export async function openSiteLink(db: Db, token: string, now: number) {
  if (!TOKEN.test(token)) return null
  const works = and(
    eq(siteLinks.hash, hashToken(token)),
    gt(siteLinks.expiresAt, now),
    isNull(users.disabledAt),
  )
  const found = db
    .select({ id: siteLinks.id, userId: sites.userId, site: sites.name })
    .from(siteLinks)
    .innerJoin(sites, eq(sites.id, siteLinks.siteId))
    .innerJoin(users, eq(users.id, sites.userId))
    .where(works)
  return (await found.get()) ?? null
}
