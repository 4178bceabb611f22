import type { Vital } from '../../contract/telemetry/metrics.ts'
import type { PercentileSet } from '../../contract/telemetry/telemetry-schemas.ts'
import type { TelemetryPeriod } from '../hour.ts'
import type { Measures } from '../sketch/measures.ts'
import { decodeMeasures } from '../sketch/measures-blob.ts'

/**
 * The key of an hourly row of a site. Country and device are empty if unknown. Keys have their values in the order
 * of the columns.
 */
export interface HourKey {
  readonly hour: number
  readonly country: string
  readonly device: string
}

export interface DayKey extends Omit<HourKey, 'hour'> {
  /** Days since 1970-01-01, UTC. */
  readonly day: number
}

export interface PathKey extends Pick<DayKey, 'day'> {
  readonly path: string
  readonly device: string
}

/** The totals of the beacons of one key. */
export interface Row {
  readonly samples: number
  readonly measures: Measures
}

export interface StoredRow extends Row {
  /** The last journal entry that the row includes. */
  readonly lastId: number
}

/** A table of stored rows. Its methods throw if the database cannot be read or written. */
export interface RowTable<Key> {
  /** The last journal entry that the row includes; 0 if there is no row. */
  findLastId(siteId: string, key: Key): number
  find(siteId: string, key: Key): Row | undefined
  save(siteId: string, key: Key, row: StoredRow): void
}

export interface RowFilter {
  readonly siteId: string
  readonly period: TelemetryPeriod
  readonly country?: string | undefined
  readonly device?: string | undefined
}

/** Pages are counted over all countries. `period`: days. */
export type PathFilter = Omit<RowFilter, 'country'>

/** An hourly row of a summary. */
export interface SummaryRow extends HourKey {
  readonly samples: number
  readonly percentiles: Readonly<Record<Vital, PercentileSet>>
}

/** A row of an hour or, if `hour` is its first hour, of a day. */
export interface SpanRow extends Sketches, HourKey {}

/** A row as it is stored. */
export interface Sketches {
  readonly samples: number
  readonly sketches: Uint8Array
}

export function toRow({ samples, sketches }: Sketches): Row {
  return { samples, measures: decodeMeasures(sketches) }
}
