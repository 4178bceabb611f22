import type { Connection } from '../../db/connection.ts'
import { dayOfHour } from '../hour.ts'
import type { PageError } from '../ingest/page-error.ts'

/** How often errors of one kind occurred, and when. */
export interface ErrorTotal {
  readonly hash: string
  count: number
  readonly firstAt: number
  lastAt: number
}

/** The errors of one kind in an hour. */
export interface ErrorGroup extends ErrorTotal {
  readonly hour: number
  readonly sample: ErrorSample
}

/** The first error of a kind in an hour, and its page. The first one of a day is stored. */
export type ErrorSample = PageError & { readonly path?: string }

/** The number of events of one kind and label in an hour. */
export interface Counter {
  readonly hour: number
  readonly kind: 'beacon' | 'connection'
  readonly label: string
  count: number
}

export interface CountTotal extends Pick<Counter, 'kind' | 'label' | 'count'> {
  readonly lastHour: number
}

/** The page views of a day whose value was not good for the same cause, on the same page and kind of device. */
export interface CauseCount {
  readonly day: number
  /** By `writeLabel`. */
  readonly label: string
  count: number
}

/** What a label stands for. The cause may be one of a later release; the name is empty for all others of a page. */
export type CauseLabel = readonly [cause: string, device: string, path: string, name: string]

export function writeLabel(parts: CauseLabel): string {
  return JSON.stringify(parts)
}

export function readLabel(label: string): CauseLabel {
  return JSON.parse(label)
}

type WithSite<Row> = Row & { readonly siteId: string }

/** The key of the sample of a kind of errors. */
export interface SampleKey {
  readonly siteId: string
  readonly day: number
  readonly hash: string
}

/** The statements for errors, counters, and the last journal entry that both include. */
export function countStatements({ $client }: Connection) {
  const findCounted = $client
    .prepare<[string], number>('SELECT last_id FROM rum_counted WHERE site_id = ?')
    .pluck()
  const saveCounted = $client.prepare<[{ siteId: string; id: number }]>(
    `INSERT INTO rum_counted (site_id, last_id) VALUES ($siteId, $id)
     ON CONFLICT DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
  )
  const hashes = $client
    .prepare<[string, number], string>(
      'SELECT hash FROM rum_error_samples WHERE site_id = ? AND day = ?',
    )
    .pluck()
  const addErrors = $client.prepare<[WithSite<Omit<ErrorGroup, 'sample'>>]>(
    `INSERT INTO rum_errors (site_id, hour, hash, count, first_at, last_at)
     VALUES ($siteId, $hour, $hash, $count, $firstAt, $lastAt) ON CONFLICT DO UPDATE
     SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)`,
  )
  const addSample = $client.prepare<[SampleKey & { readonly sample: string }]>(
    `INSERT INTO rum_error_samples (site_id, day, hash, sample)
     VALUES ($siteId, $day, $hash, $sample) ON CONFLICT DO NOTHING`,
  )
  const addCount = $client.prepare<[WithSite<Counter>]>(
    `INSERT INTO rum_counts (site_id, hour, kind, label, count)
     VALUES ($siteId, $hour, $kind, $label, $count)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  )
  const labels = $client
    .prepare<[string, number], string>(
      'SELECT label FROM rum_attribution WHERE site_id = ? AND day = ?',
    )
    .pluck()
  const addCause = $client.prepare<[WithSite<CauseCount>]>(
    `INSERT INTO rum_attribution (site_id, day, label, count)
     VALUES ($siteId, $day, $label, $count)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  )
  return {
    /** The last entry that the errors and counters of the site include; 0 if none. */
    findCountedId: (siteId: string) => findCounted.get(siteId) ?? 0,
    saveCountedId: (siteId: string, id: number) => {
      saveCounted.run({ siteId, id })
    },
    listErrorHashes: (siteId: string, day: number) => hashes.all(siteId, day),
    addErrors: (siteId: string, { sample, ...group }: ErrorGroup) => {
      const { hour, hash } = group
      addSample.run({ siteId, day: dayOfHour(hour), hash, sample: JSON.stringify(sample) })
      addErrors.run({ ...group, siteId })
    },
    addCount: (siteId: string, counter: Counter) => {
      addCount.run({ ...counter, siteId })
    },
    listCauseLabels: (siteId: string, day: number) => labels.all(siteId, day),
    addCause: (siteId: string, count: CauseCount) => {
      addCause.run({ ...count, siteId })
    },
  }
}
