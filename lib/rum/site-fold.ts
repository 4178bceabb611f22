import { type ErrorHour, foldErrors, loadErrorHour, saveErrors } from './error-groups.ts'
import { dayOfHour, hourOf } from './hour.ts'
import type { Entry } from './journal.ts'
import { addValues, type Measures } from './measures.ts'
import { inUnit, VITALS } from './metrics.ts'
import { loadPathDay, type PathDay, pathRow, savePaths } from './path-days.ts'
import { Pool } from './pool.ts'
import { type Row, toRow, toStored } from './row.ts'
import type { Columns, DayKey, HourKey, RumStore } from './store.ts'

/** One row of a summary, in memory with all that is stored of it. */
export type HourRow = HourKey & Row
type DayRow = DayKey & Row

/** What the beacons of one site change, until it is written. Never holds a part of a beacon. */
export class SiteFold {
  readonly #store: RumStore
  readonly #siteId: string
  readonly #hours = new Map<string, HourRow>()
  readonly #days = new Map<string, DayRow>()
  readonly #paths = new Map<number, PathDay>()
  readonly #errors = new Map<number, ErrorHour>()
  /** By hour, kind and label. */
  readonly #counts = new Map<string, number>()
  #lastId = 0

  constructor(store: RumStore, siteId: string) {
    this.#store = store
    this.#siteId = siteId
  }

  /** Those that have samples: one that was only read has none if it is new. */
  get hours(): HourRow[] {
    return [...this.#hours.values()].filter(({ samples }) => samples > 0)
  }

  /** Throws, and changes nothing, where what is stored cannot be read. */
  add({ id, receivedAt, country, beacon }: Entry): void {
    const hour = hourOf(receivedAt)
    const { path, metrics, errors, device = '' } = beacon
    const hasMetrics = Object.keys(metrics).length > 0
    const day = dayOfHour(hour)
    const key = { siteId: this.#siteId, hour, day, country, device }
    const rows = hasMetrics ? [this.#hour(key), this.#day(key)] : []
    const page = path === undefined || !hasMetrics ? [] : [this.#path(day, path)]
    const groups = errors.length === 0 ? undefined : this.#errorHour(hour)
    // Nothing below can fail: a beacon is folded whole or not at all.
    for (const row of [...rows, ...page]) {
      row.samples += 1
      addValues(row.measures, metrics)
    }
    if (groups !== undefined) foldErrors(groups, beacon, receivedAt)
    this.#countBeacon(hour, beacon)
    this.#lastId = id
  }

  count(hour: number, kind: string, label: string, count = 1): void {
    const key = `${hour} ${kind} ${label}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count)
  }

  /** Writes all, and forgets the entries it came from. To be called in a transaction, once. */
  write(): void {
    const { siteId, store } = { siteId: this.#siteId, store: this.#store }
    for (const row of this.hours) {
      store.saveHour(row, toColumns(row.measures), toStored(row))
    }
    for (const row of this.#days.values()) if (row.samples > 0) store.saveDay(row, toStored(row))
    for (const [day, paths] of this.#paths) savePaths(store, { siteId, day }, paths)
    for (const [hour, errors] of this.#errors) saveErrors(store, { siteId, hour }, errors)
    for (const [key, count] of this.#counts) {
      const [hour = '', kind = '', label = ''] = key.split(' ')
      store.addCount(siteId, Number(hour), { kind, label, count })
    }
    store.removeEntries(siteId, this.#lastId)
  }

  #countBeacon(hour: number, { connection, dropped }: Entry['beacon']): void {
    this.count(hour, 'beacon', 'accepted')
    if (connection !== undefined) this.count(hour, 'connection', connection)
    if (dropped > 0) this.count(hour, 'beacon', 'out-of-range', dropped)
  }

  #hour({ siteId, hour, country, device }: HourKey): HourRow {
    const key = { siteId, hour, country, device }
    const name = rowName(key)
    const known = this.#hours.get(name)
    if (known !== undefined) return known
    const row = { ...key, ...toRow(this.#store.findHour(key)) }
    this.#hours.set(name, row)
    return row
  }

  #day({ siteId, day, country, device }: DayKey): DayRow {
    const key = { siteId, day, country, device }
    const name = `${day} ${country} ${device}`
    const known = this.#days.get(name)
    if (known !== undefined) return known
    const row = { ...key, ...toRow(this.#store.findDay(key)) }
    this.#days.set(name, row)
    return row
  }

  #path(day: number, path: string) {
    const known = this.#paths.get(day) ?? loadPathDay(this.#store, { siteId: this.#siteId, day })
    this.#paths.set(day, known)
    return pathRow(this.#store, { siteId: this.#siteId, day }, known, path)
  }

  #errorHour(hour: number): ErrorHour {
    const known = this.#errors.get(hour) ?? loadErrorHour(this.#store, this.#siteId, hour)
    this.#errors.set(hour, known)
    return known
  }
}

/** The same for the same row, whatever it is read from. */
export function rowName({ hour, country, device }: Omit<HourKey, 'siteId'>): string {
  return `${hour} ${country} ${device}`
}

const SHARES = [0.5, 0.75, 0.95]

export function toColumns(measures: Measures): Columns {
  return VITALS.flatMap((vital) => {
    const pool = new Pool()
    const measure = measures[vital]
    if (measure !== undefined) pool.add(measure)
    const found = pool.percentiles(SHARES)
    return SHARES.map((_, at) => inUnit(vital, found[at]))
  })
}
