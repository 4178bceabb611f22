import type { RumSummary } from '../contract/telemetry-schemas.ts'
import type { Db } from '../db/open.ts'
import { formatHour } from './hour.ts'
import type { Period } from './period.ts'
import { type HourRow, rowName } from './site-rows.ts'
import { toColumns } from './site-write.ts'
import type { Columns, HourKey } from './store.ts'

export interface RowFilter {
  readonly siteId: string
  readonly period: Period
  readonly country?: string | undefined
  readonly device?: string | undefined
}

interface SummaryRow extends Omit<HourKey, 'siteId'> {
  readonly samples: number
  readonly columns: Columns
}

export type ReadSummary = (filter: RowFilter, fresh: readonly HourRow[]) => RumSummary['metrics']

/** Reads the rows of a summary; `fresh` are those in memory, which replace what is stored. */
export function createReadSummary({ $client }: Db): ReadSummary {
  const read = $client
    .prepare<[RowParams], StoredRow>(
      `SELECT hour, country, device, samples, lcp_p50, lcp_p75, lcp_p95, inp_p50, inp_p75, inp_p95,
         cls_p50, cls_p75, cls_p95, ttfb_p50, ttfb_p75, ttfb_p95, fid_p50, fid_p75, fid_p95
       FROM rum_hours WHERE ${ROW_CONDITION}
       ORDER BY hour, country, device`,
    )
    .raw()
  return (filter, fresh) => {
    const stored = read.all(rowParams(filter)).map(toSummaryRow)
    const changed = fresh.filter((row) => matches(row, filter))
    return (changed.length === 0 ? stored : replaceRows(stored, changed)).map(toWire)
  }
}

function replaceRows(stored: readonly SummaryRow[], fresh: readonly HourRow[]): SummaryRow[] {
  const rows = new Map(stored.map((row) => [rowName(row), row]))
  for (const row of fresh) {
    rows.set(rowName(row), { ...row, columns: toColumns(row.measures) })
  }
  return [...rows.values()].sort(byKey)
}

/** Of tables with a row for each hour, country and device. */
export const ROW_CONDITION = `site_id = $siteId AND hour BETWEEN $from AND $to
  AND ($country IS NULL OR country = $country) AND ($device IS NULL OR device = $device)`

export interface RowParams {
  readonly siteId: string
  readonly from: number
  readonly to: number
  readonly country: string | null
  readonly device: string | null
}

export function rowParams({ siteId, period, country, device }: RowFilter): RowParams {
  return { siteId, ...period, country: country ?? null, device: device ?? null }
}

type StoredRow = readonly [number, string, string, number, ...Columns]

function toSummaryRow([hour, country, device, samples, ...columns]: StoredRow): SummaryRow {
  return { hour, country, device, samples, columns }
}

function matches(row: HourRow, { period, country, device }: RowFilter): boolean {
  const isInPeriod = row.hour >= period.from && row.hour <= period.to
  return (
    isInPeriod && row.country === (country ?? row.country) && row.device === (device ?? row.device)
  )
}

function byKey(a: SummaryRow, b: SummaryRow): number {
  return a.hour - b.hour || compare(a.country, b.country) || compare(a.device, b.device)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function toWire({ hour, country, device, samples, columns }: SummaryRow) {
  return {
    hour: formatHour(hour),
    country: country === '' ? null : country,
    deviceType: device === '' ? null : device,
    sampleCount: samples,
    lcp: percentileSet(columns, 0),
    inp: percentileSet(columns, 3),
    cls: percentileSet(columns, 6),
    ttfb: percentileSet(columns, 9),
    fid: percentileSet(columns, 12),
  }
}

function percentileSet(columns: Columns, at: number) {
  return {
    p50: columns[at] ?? null,
    p75: columns[at + 1] ?? null,
    p95: columns[at + 2] ?? null,
  }
}
