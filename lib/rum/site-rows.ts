import type { ErrorHour } from './error-groups.ts'
import type { PathDay } from './path-days.ts'
import type { Row } from './row.ts'
import type { Counter, DayKey, HourKey } from './store.ts'

/** One row of a summary, in memory with all that is stored of it. */
export type HourRow = HourKey & Row

/** What the beacons of one site have changed. A row without samples was only read, and is new. */
export interface SiteRows {
  readonly siteId: string
  readonly hours: Map<string, HourRow>
  readonly days: Map<string, DayKey & Row>
  readonly paths: Map<number, PathDay>
  readonly errors: Map<number, ErrorHour>
  readonly counts: Map<string, HourCounter>
  /** The last entry of the journal that is in them. */
  lastId: number
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
  }
}

export function hoursOf({ hours }: SiteRows): HourRow[] {
  return [...hours.values()].filter(({ samples }) => samples > 0)
}

/** The same for the same row, whatever it is read from. */
export function rowName({ hour, country, device }: Omit<HourKey, 'siteId'>): string {
  return `${hour} ${country} ${device}`
}
