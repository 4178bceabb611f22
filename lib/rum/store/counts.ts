import type { Db } from '../../db/open.ts'
import type { PageError } from '../ingest/page-error.ts'
import type { RowFilter, SitePeriod } from './rows.ts'

/** The errors of one kind in an hour. */
export interface ErrorGroup {
  readonly hour: number
  readonly hash: string
  count: number
  readonly firstAt: number
  lastAt: number
  readonly sample: ErrorSample
}

/** The first error of a group, and its page. */
export type ErrorSample = PageError & { readonly path?: string }

/** The number of events of one kind and label in an hour. */
export interface Counter {
  readonly hour: number
  readonly kind: 'beacon' | 'connection'
  readonly label: string
  count: number
}

export type ErrorTotal = Omit<ErrorGroup, 'hour' | 'hash'>

export interface CountTotal extends Pick<Counter, 'kind' | 'label' | 'count'> {
  readonly lastHour: number
}

type WithSite<Row> = Row & { readonly siteId: string }
type Json<Row> = Omit<Row, 'sample'> & { readonly sample: string }

/** The statements for errors, counters, and the last journal entry that both include. */
export function countStatements(db: Db) {
  return { ...writeStatements(db), ...totalStatements(db) }
}

function writeStatements({ $client }: Db) {
  const findCounted = $client
    .prepare<[string], number>('SELECT last_id FROM rum_counted WHERE site_id = ?')
    .pluck()
  const saveCounted = $client.prepare<[{ siteId: string; id: number }]>(
    `INSERT INTO rum_counted (site_id, last_id) VALUES ($siteId, $id)
     ON CONFLICT DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
  )
  const hashes = $client
    .prepare<[string, number], string>('SELECT hash FROM rum_errors WHERE site_id = ? AND hour = ?')
    .pluck()
  const addErrors = $client.prepare<[WithSite<Json<ErrorGroup>>]>(
    `INSERT INTO rum_errors (site_id, hour, hash, count, first_at, last_at, sample)
     VALUES ($siteId, $hour, $hash, $count, $firstAt, $lastAt, $sample) ON CONFLICT DO UPDATE
     SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)`,
  )
  const addCount = $client.prepare<[WithSite<Counter>]>(
    `INSERT INTO rum_counts (site_id, hour, kind, label, count)
     VALUES ($siteId, $hour, $kind, $label, $count)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  )
  return {
    /** The last entry that the errors and counters of the site include; 0 if none. */
    findCountedId: (siteId: string) => findCounted.get(siteId) ?? 0,
    saveCountedId: (siteId: string, id: number) => {
      saveCounted.run({ siteId, id })
    },
    listErrorHashes: (siteId: string, hour: number) => hashes.all(siteId, hour),
    addErrors: (siteId: string, group: ErrorGroup) => {
      addErrors.run({ ...group, siteId, sample: JSON.stringify(group.sample) })
    },
    addCount: (siteId: string, counter: Counter) => {
      addCount.run({ ...counter, siteId })
    },
  }
}

function totalStatements({ $client }: Db) {
  // With min(), SQLite takes `sample` from the row that has the minimum.
  const errors = $client.prepare<[SitePeriod & { limit: number }], Json<ErrorTotal>>(
    `SELECT sum(count) AS count, min(first_at) AS firstAt, max_last AS lastAt, sample FROM (
       SELECT hash, count, first_at, sample, max(last_at) OVER (PARTITION BY hash) AS max_last
       FROM rum_errors WHERE site_id = $siteId AND hour BETWEEN $from AND $to
     ) GROUP BY hash ORDER BY 1 DESC, hash LIMIT $limit`,
  )
  const counts = $client.prepare<[SitePeriod], CountTotal>(
    `SELECT kind, label, sum(count) AS count, max(hour) AS lastHour FROM rum_counts
     WHERE site_id = $siteId AND hour BETWEEN $from AND $to
     GROUP BY kind, label ORDER BY 3 DESC, label`,
  )
  return {
    /** The most frequent errors of the period, from all devices and countries. */
    topErrors: ({ siteId, period }: RowFilter, limit: number): ErrorTotal[] =>
      errors
        .all({ siteId, ...period, limit })
        .map(({ sample, ...total }) => ({ ...total, sample: JSON.parse(sample) })),
    totalCounts: ({ siteId, period }: RowFilter) => counts.all({ siteId, ...period }),
  }
}
