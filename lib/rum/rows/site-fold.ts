import { dayOfHour, hourOf } from '../hour.ts'
import { ALL_CAUSES } from '../ingest/attribution.ts'
import type { KeptBeacon } from '../ingest/beacon.ts'
import type { Entry } from '../ingest/journal.ts'
import { errorHash, type PageError } from '../ingest/page-error.ts'
import {
  type CauseCount,
  type Counter,
  type ErrorGroup,
  readLabel,
  writeLabel,
} from '../store/counts.ts'
import type { DayKey, HourKey, PathKey, RowTable } from '../store/row.ts'
import { type Cap, CappedNames } from './capped-names.ts'
import { addToRow, LiveRows } from './live-rows.ts'

/** Pages of one site and day that have their own row; all others share one. */
const MAX_PATHS = 500
export const OTHER_PATHS = '(other)'
/** Kinds of errors of one site and day that have their own groups; all others share one. */
const MAX_ERROR_GROUPS = 200
export const OTHER_ERRORS: PageError = { message: '(other errors)' }
export const OTHERS_HASH = ''

/** Causes of one site and day, by page and kind of device, that have their own counts. */
const MAX_CAUSES = 2_000
/** With those that are counted for all other pages together. Above, they are counted without names. */
const MAX_CAUSES_WITH_NAMES = 3_000

export const PATH_CAP: Cap = { limit: MAX_PATHS, other: () => OTHER_PATHS }
export const ERROR_CAP: Cap = { limit: MAX_ERROR_GROUPS, other: () => OTHERS_HASH }
export const CAUSE_CAP: Cap = {
  limit: MAX_CAUSES,
  other: (label, names) => {
    const [cause, device, , name] = readLabel(label)
    const ofOthers = writeLabel([cause, device, OTHER_PATHS, name])
    const hasRoom = names.has(ofOthers) || names.size < MAX_CAUSES_WITH_NAMES
    return hasRoom ? ofOthers : writeLabel([cause, device, OTHER_PATHS, ''])
  },
}

/** What folding reads of what is stored. Its methods throw if the database cannot be read. */
export interface KnownRows {
  readonly hours: Pick<RowTable<HourKey>, 'findLastId'>
  readonly days: Pick<RowTable<DayKey>, 'findLastId'>
  readonly paths: Pick<RowTable<PathKey>, 'findLastId'>
  listPaths(siteId: string, day: number): Iterable<string>
  listErrorHashes(siteId: string, day: number): Iterable<string>
  listCauseLabels(siteId: string, day: number): Iterable<string>
  findCountedId(siteId: string): number
}

/**
 * Folds the beacons of one site into its rows, errors and counters. Memory holds only what must still be
 * added to the stored ones.
 */
export class SiteFold {
  readonly siteId: string
  readonly #known: KnownRows
  readonly hours: LiveRows<HourKey>
  readonly days: LiveRows<DayKey>
  readonly paths: LiveRows<PathKey>
  readonly #pathNames: CappedNames<number>
  readonly #errorHashes: CappedNames<number>
  readonly #causeLabels: CappedNames<number>
  readonly errors = new Map<string, ErrorGroup>()
  readonly causes = new Map<string, CauseCount>()
  readonly counts = new Map<string, Counter>()
  /** The last folded journal entry. */
  #lastId = 0
  /** The last entry that the stored errors and counters include; undefined until loaded. */
  #countedId: number | undefined

  constructor(known: KnownRows, siteId: string) {
    this.siteId = siteId
    this.#known = known
    this.hours = new LiveRows((key) => known.hours.findLastId(siteId, key))
    this.days = new LiveRows((key) => known.days.findLastId(siteId, key))
    this.paths = new LiveRows((key) => known.paths.findLastId(siteId, key))
    const listPaths = (day: number) => known.listPaths(siteId, day)
    const listHashes = (day: number) => known.listErrorHashes(siteId, day)
    this.#pathNames = new CappedNames(PATH_CAP, listPaths)
    this.#errorHashes = new CappedNames(ERROR_CAP, listHashes)
    const listLabels = (day: number) => known.listCauseLabels(siteId, day)
    this.#causeLabels = new CappedNames(CAUSE_CAP, listLabels)
  }

  get lastId(): number {
    return this.#lastId
  }

  /**
   * Adds the entry to all rows that do not include it yet: after a crash, some rows are ahead of
   * others. Throws, and changes no row, if stored rows cannot be read.
   */
  add({ id, receivedAt, country, beacon }: Entry): void {
    const hour = hourOf(receivedAt)
    const { metrics, errors, device = '' } = beacon
    const rows = this.#loadRows(beacon, { hour, country, device })
    if (errors.length > 0) this.#errorHashes.load(dayOfHour(hour))
    if (beacon.causes !== undefined) this.#causeLabels.load(dayOfHour(hour))
    this.#countedId ??= this.#known.findCountedId(this.siteId)
    // Nothing below can fail: a beacon is folded as a whole or not at all.
    for (const row of rows) addToRow(row, id, metrics)
    if (id > this.#countedId) {
      this.#addErrors(beacon, hour, receivedAt)
      this.#countCauses(beacon, dayOfHour(hour))
      this.#countBeacon(beacon, hour)
    }
    this.#lastId = id
  }

  count({ hour, kind, label, count }: Counter): void {
    const name = `${hour} ${kind} ${label}`
    const known = this.counts.get(name)
    if (known === undefined) this.counts.set(name, { hour, kind, label, count })
    else known.count += count
  }

  /** Forgets all rows that are stored. Returns whether nothing is left in memory. */
  forgetSaved(): boolean {
    for (const rows of [this.hours, this.days, this.paths]) rows.forgetSaved()
    this.#pathNames.keepOnly(this.paths.keys().map(({ day }) => day))
    this.#errorHashes.keepOnly(Array.from(this.errors.values(), ({ hour }) => dayOfHour(hour)))
    this.#causeLabels.keepOnly(Array.from(this.causes.values(), ({ day }) => day))
    const all = [this.hours, this.days, this.paths, this.errors, this.causes, this.counts]
    return all.every(({ size }) => size === 0)
  }

  #loadRows({ path, metrics }: KeptBeacon, key: HourKey) {
    if (Object.keys(metrics).length === 0) return []
    const { hour, country, device } = key
    const day = dayOfHour(hour)
    const rows = [this.hours.load(key), this.days.load({ day, country, device })]
    if (path === undefined) return rows
    return [...rows, this.paths.load({ day, path: this.#pathNames.add(day, path), device })]
  }

  #addErrors({ errors, path }: KeptBeacon, hour: number, at: number): void {
    for (const error of errors) {
      const hash = this.#errorHashes.add(dayOfHour(hour), errorHash(error))
      const sample = hash === OTHERS_HASH ? OTHER_ERRORS : { ...error, ...(path && { path }) }
      const name = `${hour} ${hash}`
      const empty = { hour, hash, count: 0, firstAt: at, lastAt: at, sample }
      const group = this.errors.get(name) ?? empty
      this.errors.set(name, group)
      group.count += 1
      group.lastAt = at
    }
  }

  #countCauses({ causes, path, device }: KeptBeacon, day: number): void {
    if (causes === undefined) return
    const page = path === undefined ? '' : this.#pathNames.add(day, path)
    for (const cause of ALL_CAUSES) {
      const found = causes[cause]
      if (found === undefined) continue
      const label = this.#causeLabels.add(day, writeLabel([cause, device ?? '', page, found]))
      const name = `${day} ${label}`
      const count = this.causes.get(name) ?? { day, label, count: 0 }
      this.causes.set(name, count)
      count.count += 1
    }
  }

  #countBeacon({ connection, dropped }: KeptBeacon, hour: number): void {
    this.count({ hour, kind: 'beacon', label: 'accepted', count: 1 })
    if (connection) this.count({ hour, kind: 'connection', label: connection, count: 1 })
    if (dropped > 0) this.count({ hour, kind: 'beacon', label: 'out-of-range', count: dropped })
  }
}
