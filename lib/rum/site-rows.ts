import type { ErrorHour } from './error-groups.ts'
import type { PathDay } from './path-days.ts'
import { isChanged, type LiveRow } from './row.ts'
import type { Counter, DayKey, HourKey } from './store.ts'

export type HourRow = HourKey & LiveRow
export type DayRow = DayKey & LiveRow

/** What the beacons of one site have lately changed. Each row tells what of it is stored. */
export interface SiteRows {
  readonly siteId: string
  readonly hours: Map<string, HourRow>
  readonly days: Map<string, DayRow>
  readonly paths: Map<number, PathDay>
  /** These and `counts` are what is not stored yet. */
  readonly errors: Map<number, ErrorHour>
  readonly counts: Map<string, HourCounter>
  /** The last entry of the journal that is in all of them. */
  lastId: number
  /** The last one whose errors and counters are stored; undefined: not asked yet. */
  countedId: number | undefined
}

export interface HourCounter extends Counter {
  readonly hour: number
  count: number
}

export function newSiteRows(siteId: string): SiteRows {
  return {
    siteId,
    hours: new Map(),
    days: new Map(),
    paths: new Map(),
    errors: new Map(),
    counts: new Map(),
    lastId: 0,
    countedId: undefined,
  }
}

/** Those that are newer than what is stored of them. */
export function changedHours({ hours }: SiteRows): HourRow[] {
  return [...hours.values()].filter(isChanged)
}

/** The same for the same row, whatever it is read from. */
export function rowName({ hour, country, device }: Omit<HourKey, 'siteId'>): string {
  return `${hour} ${country} ${device}`
}

/** Forgets what is stored as it is. Returns whether nothing is left. */
export function forgetStored({ hours, days, paths, errors, counts }: SiteRows): boolean {
  for (const rows of [hours, days]) forgetRows(rows)
  for (const [day, { rows }] of paths) {
    forgetRows(rows)
    if (rows.size === 0) paths.delete(day)
  }
  for (const [hour, { groups }] of errors) {
    if (groups.size === 0) errors.delete(hour)
  }
  return [hours, days, paths, errors, counts].every(({ size }) => size === 0)
}

function forgetRows(rows: Map<string, LiveRow>): void {
  for (const [name, row] of rows) {
    if (!isChanged(row)) rows.delete(name)
  }
}
