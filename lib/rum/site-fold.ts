import { type ErrorHour, foldErrors, loadErrorHour } from './error-groups.ts'
import { dayOfHour, hourOf } from './hour.ts'
import type { Entry } from './journal.ts'
import { addValues } from './measures.ts'
import { loadPathDay, pathRow } from './path-days.ts'
import { type Row, toRow } from './row.ts'
import { newSiteRows, rowName, type SiteRows } from './site-rows.ts'
import type { DayKey, HourKey, RowSource } from './store.ts'

/** Folds the beacons of one site into its rows, which begin with what `source` has of them. */
export class SiteFold {
  readonly rows: SiteRows
  readonly #source: RowSource

  constructor(source: RowSource, siteId: string) {
    this.#source = source
    this.rows = newSiteRows(siteId)
  }

  /** Throws, and changes nothing, where what is stored cannot be read. */
  add({ id, receivedAt, country, beacon }: Entry): void {
    const hour = hourOf(receivedAt)
    const { path, metrics, errors, device = '' } = beacon
    const hasMetrics = Object.keys(metrics).length > 0
    const day = dayOfHour(hour)
    const key = { siteId: this.rows.siteId, hour, day, country, device }
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

  #hour({ siteId, hour, country, device }: HourKey): Row {
    const key = { siteId, hour, country, device }
    const name = rowName(key)
    const known = this.rows.hours.get(name)
    if (known !== undefined) return known
    const row = { ...key, ...toRow(this.#source.findHour(key)) }
    this.rows.hours.set(name, row)
    return row
  }

  #day({ siteId, day, country, device }: DayKey): Row {
    const key = { siteId, day, country, device }
    const name = rowName({ ...key, hour: day })
    const known = this.rows.days.get(name)
    if (known !== undefined) return known
    const row = { ...key, ...toRow(this.#source.findDay(key)) }
    this.rows.days.set(name, row)
    return row
  }

  #path(day: number, path: string): Row {
    const { siteId, paths } = this.rows
    const known = paths.get(day) ?? loadPathDay(this.#source, { siteId, day })
    paths.set(day, known)
    return pathRow(this.#source, { siteId, day }, known, path)
  }

  #errorHour(hour: number): ErrorHour {
    const { siteId, errors } = this.rows
    const known = errors.get(hour) ?? loadErrorHour(this.#source, siteId, hour)
    errors.set(hour, known)
    return known
  }
}
