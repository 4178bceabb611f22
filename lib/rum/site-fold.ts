import { type ErrorHour, foldErrors, loadErrorHour } from './error-groups.ts'
import { dayOfHour, hourOf } from './hour.ts'
import type { Entry } from './journal.ts'
import { addValues } from './measures.ts'
import { loadPathDay, pathRow } from './path-days.ts'
import { type LiveRow, toLiveRow } from './row.ts'
import { newSiteRows, rowName, type SiteRows } from './site-rows.ts'
import type { DayKey, HourKey, RumStore } from './store.ts'

/** Folds the beacons of one site into its rows, which begin with what the store has of them. */
export class SiteFold {
  readonly rows: SiteRows
  readonly #store: RumStore

  constructor(store: RumStore, siteId: string) {
    this.#store = store
    this.rows = newSiteRows(siteId)
  }

  /**
   * Adds the entry to what does not have it yet: after a crash, rows that were written are ahead of
   * others. Throws, and changes nothing, where what is stored cannot be read.
   */
  add({ id, receivedAt, country, beacon }: Entry): void {
    const hour = hourOf(receivedAt)
    const { path, metrics, errors, device = '' } = beacon
    const hasMetrics = Object.keys(metrics).length > 0
    const day = dayOfHour(hour)
    const key = { siteId: this.rows.siteId, hour, day, country, device }
    const rows = hasMetrics ? [this.#hour(key), this.#day(key)] : []
    const page = path === undefined || !hasMetrics ? [] : [this.#path(day, path)]
    const groups = errors.length === 0 ? undefined : this.#errorHour(hour)
    const countedId = this.#countedId()
    // Nothing below can fail: a beacon is folded whole or not at all.
    for (const row of [...rows, ...page]) {
      if (id <= row.lastId) continue
      row.samples += 1
      row.lastId = id
      addValues(row.measures, metrics)
    }
    if (id > countedId) {
      if (groups !== undefined) foldErrors(groups, beacon, receivedAt)
      this.#countBeacon(hour, beacon)
    }
    this.rows.lastId = id
  }

  count(hour: number, kind: string, label: string, count = 1): void {
    const { counts } = this.rows
    const name = `${hour} ${kind} ${label}`
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { hour, kind, label, count })
    else known.count += count
  }

  #countBeacon(hour: number, { connection, dropped }: Entry['beacon']): void {
    this.count(hour, 'beacon', 'accepted')
    if (connection !== undefined) this.count(hour, 'connection', connection)
    if (dropped > 0) this.count(hour, 'beacon', 'out-of-range', dropped)
  }

  #countedId(): number {
    this.rows.countedId ??= this.#store.findCountedId(this.rows.siteId)
    return this.rows.countedId
  }

  #hour({ siteId, hour, country, device }: HourKey): LiveRow {
    const key = { siteId, hour, country, device }
    const name = rowName(key)
    const known = this.rows.hours.get(name)
    if (known !== undefined) return known
    const row = { ...key, ...toLiveRow(this.#store.findHour(key)) }
    this.rows.hours.set(name, row)
    return row
  }

  #day({ siteId, day, country, device }: DayKey): LiveRow {
    const key = { siteId, day, country, device }
    const name = rowName({ ...key, hour: day })
    const known = this.rows.days.get(name)
    if (known !== undefined) return known
    const row = { ...key, ...toLiveRow(this.#store.findDay(key)) }
    this.rows.days.set(name, row)
    return row
  }

  #path(day: number, path: string): LiveRow {
    const { siteId, paths } = this.rows
    const known = paths.get(day) ?? loadPathDay(this.#store, { siteId, day })
    paths.set(day, known)
    return pathRow(this.#store, { siteId, day }, known, path)
  }

  #errorHour(hour: number): ErrorHour {
    const { siteId, errors } = this.rows
    const known = errors.get(hour) ?? loadErrorHour(this.#store, siteId, hour)
    errors.set(hour, known)
    return known
  }
}
