import type { SiteProof } from '../contract/account/site-proof.ts'
import { and, desc, eq, gt, isNotNull, lte, ne, or, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { sites } from '../db/tables.ts'
import { DAY_MS } from '../parts/durations.ts'
import { ApiError } from '../parts/errors.ts'
import { isLocalName } from '../parts/net/local-name.ts'
import type { FindTxt } from '../parts/net/txt-records.ts'
import { type Actor, callerEvent, insertAudit } from './audit.ts'
import { changeReceivers, siteNote } from './site-receiver.ts'
import type { SiteRow } from './sites.ts'

/** A proof is checked once a day, and ends after a week in which no check found the record. */
const CHECK_INTERVAL_MS = DAY_MS
const MISSING_KEPT_MS = 7 * DAY_MS

/**
 * The TXT record that proves the host of a site, at one of two names. Its value contains the id of the
 * site, which is random and never reused. null if the public DNS does not cover the host.
 */
function recordOf({ id, host }: SiteRow): SiteProof['record'] {
  if (isLocalName(host)) return null
  return { type: 'TXT', names: [host, `_meridian.${host}`], value: `meridian-site=${id}` }
}

/** `receives`: whether the telemetry of the site's origin goes to this site. */
export async function toSiteProof(db: Db, site: SiteRow, receives: boolean): Promise<SiteProof> {
  const proving = await provingSite(db, site)
  const record = recordOf(proving)
  return {
    state: stateOf(proving, record),
    receives,
    record,
    provenAt: toTimestamp(proving.provenAt),
    missingSince: toTimestamp(proving.missingSince),
    checkedAt: toTimestamp(proving.checkedAt),
  }
}

/** The user's site whose record proves the host. Its scheme or port may differ from those of `site`. */
async function provingSite(db: Db, site: SiteRow): Promise<SiteRow> {
  if (site.provenAt !== null) return site
  const isSame = and(eq(sites.host, site.host), eq(sites.userId, site.userId))
  const proven = db
    .select()
    .from(sites)
    .where(and(isSame, isNotNull(sites.provenAt)))
  return (await proven.orderBy(desc(sites.provenAt)).get()) ?? site
}

function stateOf({ provenAt }: SiteRow, record: SiteProof['record']): SiteProof['state'] {
  if (record === null) return 'impossible'
  return provenAt === null ? 'unproven' : 'proven'
}

function toTimestamp(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

interface Check {
  readonly findTxt: FindTxt
  /** The user that the audit log names. */
  readonly actor: Actor
  readonly now: number
}

/**
 * Looks for the record of the site, and stores the result. Throws SERVICE_UNAVAILABLE, and stores
 * nothing, if the DNS gives no answer. Throws BAD_REQUEST if the site cannot have a record.
 */
export async function checkProof(db: Db, site: SiteRow, check: Check): Promise<void> {
  const proving = await provingSite(db, site)
  const isFound = await hasRecord(proving, check.findTxt)
  await changeReceivers(db, site.host, check.now, (queries) =>
    storeCheck(queries, proving.id, isFound, check),
  )
}

async function hasRecord(site: SiteRow, findTxt: FindTxt): Promise<boolean> {
  const record = recordOf(site)
  if (record === null) {
    const message = `${site.name} cannot be proved: the public DNS does not cover its host`
    throw new ApiError('BAD_REQUEST', message)
  }
  const answers = await Promise.allSettled(record.names.map(findTxt))
  const texts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (texts.some((text) => text.trim() === record.value)) return true
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (failed === undefined) return false
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    `The DNS does not answer for ${site.name} now; try again later`,
    { cause: failed.reason },
  )
}

/** Reads the site again, because it may have changed or been deleted during the DNS query. */
async function storeCheck(
  queries: Queries,
  id: string,
  isFound: boolean,
  { actor, now }: Check,
): Promise<void> {
  const site = await queries.select().from(sites).where(eq(sites.id, id)).get()
  if (site === undefined) return
  const change = isFound ? await foundAt(queries, site, now) : missingAt(site, now)
  await queries
    .update(sites)
    .set({ ...change, checkedAt: now })
    .where(eq(sites.id, id))
    .run()
  if ((change.provenAt === null) === (site.provenAt === null)) return
  if (isFound) await endFirstRegistrations(queries, site)
  const action = isFound ? 'prove_site' : 'lose_proof'
  await insertAudit(queries, callerEvent(actor, siteNote(action, site), now)).run()
}

/**
 * Ends the other users' first registrations for good. Otherwise, an owner whose record disappears would
 * lose the telemetry to the user who registered first.
 */
async function endFirstRegistrations(queries: Queries, { host, userId }: SiteRow): Promise<void> {
  const isOthers = and(eq(sites.host, host), ne(sites.userId, userId))
  await queries.update(sites).set({ isFirst: false }).where(isOthers).run()
}

type Proof = Pick<SiteRow, 'provenAt' | 'missingSince'>

/** A valid proof keeps its time. Otherwise, if two users have a record, each check would move the site to the other. */
async function foundAt(queries: Queries, { host, provenAt }: SiteRow, now: number): Promise<Proof> {
  const newest = await newestProof(queries, host)
  return { provenAt: provenAt ?? Math.max(now, newest + 1), missingSince: null }
}

/** Time of the newest proof of this host; 0: none. */
async function newestProof(queries: Queries, host: string): Promise<number> {
  const newest = sql<number>`coalesce(max(${sites.provenAt}), 0)`
  const row = await queries.select({ newest }).from(sites).where(eq(sites.host, host)).get()
  return row?.newest ?? 0
}

function missingAt({ provenAt, missingSince }: SiteRow, now: number): Proof {
  const since = missingSince ?? now
  if (provenAt === null || now - since >= MISSING_KEPT_MS)
    return { provenAt: null, missingSince: null }
  return { provenAt, missingSince: since }
}

/** Proven sites whose last check is a day old, or lies in the future because a clock was wrong. */
export async function listProofsToCheck(db: Db, now: number): Promise<SiteRow[]> {
  const isDue = or(lte(sites.checkedAt, now - CHECK_INTERVAL_MS), gt(sites.checkedAt, now))
  return db
    .select()
    .from(sites)
    .where(and(isNotNull(sites.provenAt), isDue))
    .all()
}
