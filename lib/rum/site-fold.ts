import { type ErrorHour, foldErrors, loadErrorHour, saveErrors } from './error-groups.ts'
import { dayOfHour, hourOf } from './hour.ts'
import type { Entry } from './journal.ts'
import { addValues, type Measures, percentilesOf } from './measures.ts'
import { decodeMeasures, encodeMeasures } from './measures-blob.ts'
import { VITALS } from './metrics.ts'
import { loadPathDay, type PathDay, pathRow, savePaths } from './path-days.ts'
import type { Columns, HourKey, RumStore } from './store.ts'

/** One row of a summary, in memory with all that is stored of it. */
export interface HourRow extends HourKey {
  samples: number
  readonly measures: Measures
}

/** What the beacons of one site change, until it is written. Never holds a part of a beacon. */
export class SiteFold {
  readonly #store: RumStore
  readonly #siteId: string
  readonly #hours = new Map<string, HourRow>()
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
    const row = hasMetrics ? this.#hour({ siteId: this.#siteId, hour, country, device }) : undefined
    const page = path === undefined ? undefined : this.#path(dayOfHour(hour), path)
    const groups = errors.length === 0 ? undefined : this.#errorHour(hour)
    // Nothing below can fail: a beacon is folded whole or not at all.
    for (const one of [row, page]) {
      if (one === undefined) continue
      one.samples += 1
      addValues(one.measures, metrics)
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
      store.saveHour(row, row.samples, toColumns(row.measures), encodeMeasures(row.measures))
    }
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

  #hour(key: HourKey): HourRow {
    const name = rowName(key)
    const known = this.#hours.get(name)
    if (known !== undefined) return known
    const stored = this.#store.findHour(key)
    const measures = stored === undefined ? {} : decodeMeasures(stored.sketches)
    const row = { ...key, samples: stored?.samples ?? 0, measures }
    this.#hours.set(name, row)
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

export function toColumns(measures: Measures): Columns {
  return VITALS.flatMap((vital) => percentilesOf(vital, measures[vital]) ?? [null, null, null])
}
