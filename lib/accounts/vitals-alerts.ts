import { dayOf } from '../config/period.ts'
import { and, asc, eq, gt, isNull, lt } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { vitalsAlerts } from '../db/site-tables.ts'
import { sites, users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'

export type VitalsAlert = typeof vitalsAlerts.$inferSelect

type OwnSite = Pick<VitalsAlert, 'siteId' | 'userId'>

export async function hasVitalsAlert(db: Db, own: OwnSite): Promise<boolean> {
  const found = db.select({ siteId: vitalsAlerts.siteId }).from(vitalsAlerts).where(isOwn(own))
  return (await found.get()) !== undefined
}

/** Finds whose mails about the site are on, with the name of the site. */
export async function findVitalsAlert(db: Db, siteId: string) {
  const { userId, createdAt } = vitalsAlerts
  const found = db
    .select({ siteId: vitalsAlerts.siteId, userId, createdAt, site: sites.name })
    .from(vitalsAlerts)
    .innerJoin(sites, eq(sites.id, vitalsAlerts.siteId))
    .where(eq(vitalsAlerts.siteId, siteId))
  return (await found.get()) ?? null
}

/** Turns the mails on: today is the first day that is judged. Changes no row if they are on. */
export function insertVitalsAlert(db: Db, { siteId, userId }: OwnSite, now: number): Statement {
  const yesterday = dayOf(now) - 1
  return db
    .insert(vitalsAlerts)
    .values({ siteId, userId, createdAt: now, day: yesterday, poor: '' })
    .onConflictDoNothing()
}

/** Changes no row if the mails are off. */
export function deleteVitalsAlert(db: Db, own: OwnSite): Statement {
  return db.delete(vitalsAlerts).where(isOwn(own))
}

/**
 * Alerts whose last judged day is before `day`, after the site with the id `after`. Those of accounts that are
 * disabled, or whose address is not verified, are left out.
 */
export async function listDueAlerts(db: Db, day: number, after: string, limit: number) {
  const getsMail = and(eq(users.emailVerified, true), isNull(users.disabledAt))
  return db
    .select({
      siteId: vitalsAlerts.siteId,
      userId: vitalsAlerts.userId,
      createdAt: vitalsAlerts.createdAt,
      day: vitalsAlerts.day,
      poor: vitalsAlerts.poor,
      site: sites.name,
    })
    .from(vitalsAlerts)
    .innerJoin(sites, eq(sites.id, vitalsAlerts.siteId))
    .innerJoin(users, eq(users.id, vitalsAlerts.userId))
    .where(and(getsMail, lt(vitalsAlerts.day, day), gt(vitalsAlerts.siteId, after)))
    .orderBy(asc(vitalsAlerts.siteId))
    .limit(limit)
    .all()
}

/** Stores that the day is judged. Changes no row if it was judged meanwhile, or the mails were turned off. */
export function setJudged(
  db: Db,
  { siteId, day: last }: Pick<VitalsAlert, 'siteId' | 'day'>,
  { day, poor }: Pick<VitalsAlert, 'day' | 'poor'>,
): Statement {
  const isUnchanged = and(eq(vitalsAlerts.siteId, siteId), eq(vitalsAlerts.day, last))
  return db.update(vitalsAlerts).set({ day, poor }).where(isUnchanged)
}

function isOwn({ siteId, userId }: OwnSite) {
  return and(eq(vitalsAlerts.siteId, siteId), eq(vitalsAlerts.userId, userId))
}
