import * as v from 'valibot'
import { APP_PATH } from '../contract/pages.ts'
import { CORE_VITALS, type CoreVital, METRIC_RULES } from '../contract/telemetry/metrics.ts'
import { JUDGED, valueText, WHOSE } from '../contract/telemetry/rating.ts'
import { accountMails } from '../db/contact-tables.ts'
import { and, eq, integerOf, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'
import type { AccountMailRow } from './account-mails.ts'
import type { StopLinks } from './stop-links.ts'

export const VITALS_POOR = 'vitals_poor'

/** What a mail says: which metrics of a site have turned poor on a day. */
export type PoorVitals = v.InferOutput<typeof PoorVitals>
const PoorVitals = v.object({
  /** The origin. */
  site: v.string(),
  /** YYYY-MM-DD, UTC. */
  day: v.string(),
  /** When the mails were turned on. */
  since: v.number(),
  findings: v.array(
    v.object({
      device: v.picklist(JUDGED),
      vital: v.picklist(CORE_VITALS),
      value: v.number(),
      /** The slowest page; absent if no page has enough views. */
      page: v.optional(v.object({ path: v.string(), value: v.number() })),
    }),
  ),
})

/** Later, the mail is of no use. */
const USEFUL_MS = 2 * DAY_MS

/** Whose mails, about which site. */
interface Subject {
  readonly userId: string
  readonly siteId: string
}

interface NewVitalsMail extends Subject {
  readonly poor: PoorVitals
  readonly now: number
}

/** Queues the mail, unless the account is disabled or its address is not verified. Its id allows one for a site and day. */
export function insertVitalsMail(db: Db, { userId, siteId, poor, now }: NewVitalsMail): Statement {
  const [at, end] = [integerOf(now), integerOf(now + USEFUL_MS)]
  const getsMail = and(eq(users.id, userId), eq(users.emailVerified, true))
  return db
    .insert(accountMails)
    .select(
      sql`SELECT ${`${idOf(siteId)}${poor.day}`}, id, email, ${VITALS_POOR}, NULL, ${end}, 'waiting', ${at}, ${at},
        ${at}, 0, NULL, NULL, NULL, ${JSON.stringify(poor)} FROM ${users}
        WHERE ${getsMail} AND ${users.disabledAt} IS NULL`,
    )
    .onConflictDoNothing()
}

/** Removes the mails about the site that wait. */
export function removeVitalsMails(db: Db, userId: string, siteId: string): Statement {
  const isAbout = sql`${accountMails.id} LIKE ${`${idOf(siteId)}%`}`
  return db.delete(accountMails).where(and(eq(accountMails.userId, userId), isAbout))
}

function idOf(siteId: string): string {
  return `vitals-${siteId}-`
}

/** The site that the id of a mail names, before its day. */
function siteIn(id: string): string {
  return id.slice(idOf('').length - 1, -'-YYYY-MM-DD'.length)
}

interface WordsOptions {
  readonly baseUrl: string
  readonly stopLinks: StopLinks
}

/** The words of the mail. Throws if it is not such a mail. */
export function vitalsWords(
  { id, userId, detail }: Pick<AccountMailRow, 'id' | 'userId' | 'detail'>,
  { baseUrl, stopLinks }: WordsOptions,
) {
  const { site, day, since, findings } = v.parse(PoorVitals, JSON.parse(detail ?? ''))
  const names = [...new Set(findings.map(({ vital }) => vital.toUpperCase()))]
  const page = `${baseUrl}${APP_PATH}/vitals?${new URLSearchParams({ site })}`
  const lines = findings.map(sentenceOf)
  return {
    subject: `${names.join(', ')} turned poor: ${new URL(site).host}`,
    text: `${site} on ${day} (UTC):

${lines.join('\n')}

At the 75th percentile: one of four views was worse. While a metric stays poor, you get no other mail about it; the next comes after a day that was not poor.

All vitals: ${page}
To get no more of these mails, turn them off at the end of that page, under Mails.
`,
    unsubscribe: stopLinks.urlOf({ kind: 'vitals', id: siteIn(id), userId, since }),
  }
}

/** What a value of the vital says of a page; the value follows. */
const WHAT: Readonly<Record<CoreVital, string>> = {
  lcp: 'the main picture or text appears after',
  inp: 'the page answers a click, tap or key after',
  cls: 'the layout shifts by',
}

function sentenceOf({ device, vital, value, page }: PoorVitals['findings'][number]): string {
  const poor = plainText(valueText(vital, METRIC_RULES[vital].poor))
  const text = `- ${WHOSE[device]}, ${WHAT[vital]} ${plainText(valueText(vital, value))} (${vital.toUpperCase()}; above ${poor} is poor).`
  if (page === undefined) return text
  const which = vital === 'cls' ? 'Worst' : 'Slowest'
  return `${text} ${which} page: ${safePath(page.path)}, ${plainText(valueText(vital, page.value))}.`
}

/**
 * Anybody can send a path: encoded, it cannot pass for a sentence. Programs that show mails make links of whatever
 * looks like an address, so colons and dots are encoded, too.
 */
function safePath(path: string): string {
  const segments = path.toWellFormed().split('/').map(encodeURIComponent)
  return segments.join('/').replaceAll('.', '%2E')
}

function plainText(text: string): string {
  return text.replaceAll('\u00a0', ' ')
}
