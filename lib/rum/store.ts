import type { Db } from '../db/open.ts'
import type { Entry } from './journal.ts'
import type { PageError } from './page-error.ts'

export interface HourKey {
  readonly siteId: string
  readonly hour: number
  /** Empty: unknown. */
  readonly country: string
  /** Empty: unknown. */
  readonly device: string
}

export interface DayKey extends Omit<HourKey, 'hour'> {
  /** Since 1970-01-01, UTC. */
  readonly day: number
}

/** p50, p75 and p95 of each vital, in the order of `VITALS`. */
export type Columns = readonly (number | null)[]

export interface Stored {
  readonly samples: number
  readonly sketches: Uint8Array
}

/** A row as it is kept while beacons change it. */
export interface StoredRow extends Stored {
  /** The last entry of the journal that is in it. */
  readonly lastId: number
}

export interface ErrorGroup {
  readonly hash: string
  count: number
  readonly firstAt: number
  lastAt: number
  readonly sample: PageError & { readonly path?: string }
}

/** The statements of telemetry, prepared once. */
export interface RumStore {
  addEntries(entries: readonly Entry[]): void
  /** The last id that was ever in a row: those of new entries must be above it. */
  lastEntryId(): number
  /** Entries after those of a site and id, in order of both. */
  readEntries(after: Pick<Entry, 'siteId' | 'id'>, limit: number): Entry[]
  /** Removes the first entries of the site, up to an id. Returns how many there were. */
  removeEntries(siteId: string, upToId: number, limit: number): number
  findHour(key: HourKey): StoredRow | undefined
  saveHour(key: HourKey, columns: Columns, stored: StoredRow): void
  findDay(key: DayKey): StoredRow | undefined
  saveDay(key: DayKey, stored: StoredRow): void
  listPaths(siteId: string, day: number): Iterable<string>
  findPath(siteId: string, day: number, path: string): StoredRow | undefined
  savePath(siteId: string, day: number, path: string, stored: StoredRow): void
  /** The last entry whose errors and counters are stored; 0: none. */
  findCountedId(siteId: string): number
  saveCountedId(siteId: string, id: number): void
  listErrorHashes(siteId: string, hour: number): Iterable<string>
  addErrors(siteId: string, hour: number, group: ErrorGroup): void
  addCount(siteId: string, hour: number, counter: Counter): void
}

/** `kind`: beacon, or connection; see `Counts`. */
export interface Counter {
  readonly kind: string
  readonly label: string
  readonly count: number
}

export function createRumStore(db: Db): RumStore {
  return {
    ...entryStatements(db),
    ...hourStatements(db),
    ...pathStatements(db),
    ...countStatements(db),
  }
}

interface EntryRow extends Omit<Entry, 'beacon'> {
  readonly beacon: string
}

function entryStatements({ $client }: Db) {
  const insert = $client.prepare(
    'INSERT INTO rum_journal (site_id, id, received_at, country, beacon) VALUES (?, ?, ?, ?, ?)',
  )
  const last = $client
    .prepare<[], number>(
      `SELECT max((SELECT coalesce(max(id), 0) FROM rum_journal),
                  (SELECT coalesce(max(last_id), 0) FROM rum_counted))`,
    )
    .pluck()
  const read = $client.prepare<[string, number, number], EntryRow>(
    `SELECT site_id AS siteId, id, received_at AS receivedAt, country, beacon FROM rum_journal
     WHERE (site_id, id) > (?, ?) ORDER BY site_id, id LIMIT ?`,
  )
  const remove = $client.prepare<[{ siteId: string; upToId: number; limit: number }]>(
    `DELETE FROM rum_journal WHERE site_id = $siteId AND id IN (
       SELECT id FROM rum_journal WHERE site_id = $siteId AND id <= $upToId ORDER BY id LIMIT $limit)`,
  )
  const addAll = $client.transaction((entries: readonly Entry[]) => {
    for (const { siteId, id, receivedAt, country, beacon } of entries) {
      insert.run(siteId, id, receivedAt, country, JSON.stringify(beacon))
    }
  })
  return {
    addEntries: (entries: readonly Entry[]) => addAll.immediate(entries),
    lastEntryId: () => last.get() ?? 0,
    readEntries: ({ siteId, id }: Pick<Entry, 'siteId' | 'id'>, limit: number) =>
      read.all(siteId, id, limit).map((row) => ({ ...row, beacon: JSON.parse(row.beacon) })),
    removeEntries: (siteId: string, upToId: number, limit: number) =>
      remove.run({ siteId, upToId, limit }).changes,
  }
}

const STORED = 'samples, sketches, last_id AS lastId'
const FIND_ROW = 'WHERE site_id = ? AND hour = ? AND country = ? AND device = ?'
type FindRow = [string, number, string, string]

function hourStatements({ $client }: Db) {
  const find = $client.prepare<FindRow, StoredRow>(`SELECT ${STORED} FROM rum_sketches ${FIND_ROW}`)
  const save = $client.prepare(
    `INSERT OR REPLACE INTO rum_hours VALUES (${Array(20).fill('?').join(', ')})`,
  )
  const saveSketches = $client.prepare(
    'INSERT OR REPLACE INTO rum_sketches VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const findDay = $client.prepare<FindRow, StoredRow>(
    `SELECT ${STORED} FROM rum_days ${FIND_ROW.replace('hour', 'day')}`,
  )
  const saveDay = $client.prepare('INSERT OR REPLACE INTO rum_days VALUES (?, ?, ?, ?, ?, ?, ?)')
  return {
    findHour: ({ siteId, hour, country, device }: HourKey) =>
      find.get(siteId, hour, country, device),
    saveHour: (key: HourKey, columns: Columns, { samples, sketches, lastId }: StoredRow) => {
      const { siteId, hour, country, device } = key
      save.run(siteId, hour, country, device, samples, ...columns)
      saveSketches.run(siteId, hour, country, device, samples, sketches, lastId)
    },
    findDay: ({ siteId, day, country, device }: DayKey) =>
      findDay.get(siteId, day, country, device),
    saveDay: ({ siteId, day, country, device }: DayKey, stored: StoredRow) => {
      const { samples, sketches, lastId } = stored
      saveDay.run(siteId, day, country, device, samples, sketches, lastId)
    },
  }
}

function pathStatements({ $client }: Db) {
  const paths = $client
    .prepare<[string, number], string>('SELECT path FROM rum_paths WHERE site_id = ? AND day = ?')
    .pluck()
  const path = $client.prepare<[string, number, string], StoredRow>(
    `SELECT ${STORED} FROM rum_paths WHERE site_id = ? AND day = ? AND path = ?`,
  )
  const save = $client.prepare('INSERT OR REPLACE INTO rum_paths VALUES (?, ?, ?, ?, ?, ?)')
  return {
    listPaths: (siteId: string, day: number) => paths.all(siteId, day),
    findPath: (siteId: string, day: number, name: string) => path.get(siteId, day, name),
    savePath: (siteId: string, day: number, name: string, stored: StoredRow) => {
      const { samples, sketches, lastId } = stored
      save.run(siteId, day, name, samples, sketches, lastId)
    },
  }
}

function countStatements({ $client }: Db) {
  const findCounted = $client
    .prepare<[string], number>('SELECT last_id FROM rum_counted WHERE site_id = ?')
    .pluck()
  const saveCounted = $client.prepare(
    `INSERT INTO rum_counted VALUES (?, ?)
     ON CONFLICT DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
  )
  const hashes = $client
    .prepare<[string, number], string>('SELECT hash FROM rum_errors WHERE site_id = ? AND hour = ?')
    .pluck()
  const addErrors = $client.prepare(
    `INSERT INTO rum_errors VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)`,
  )
  const addCount = $client.prepare(
    `INSERT INTO rum_counts VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  )
  return {
    findCountedId: (siteId: string) => findCounted.get(siteId) ?? 0,
    saveCountedId: (siteId: string, id: number) => {
      saveCounted.run(siteId, id)
    },
    listErrorHashes: (siteId: string, hour: number) => hashes.all(siteId, hour),
    addErrors: (siteId: string, hour: number, group: ErrorGroup) => {
      const { hash, count, firstAt, lastAt, sample } = group
      addErrors.run(siteId, hour, hash, count, firstAt, lastAt, JSON.stringify(sample))
    },
    addCount: (siteId: string, hour: number, { kind, label, count }: Counter) => {
      addCount.run(siteId, hour, kind, label, count)
    },
  }
}
