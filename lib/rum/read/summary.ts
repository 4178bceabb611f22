import { setImmediate as nextTurn } from 'node:timers/promises'
import { byVital } from '../../contract/telemetry/metrics.ts'
import type { RumSummary } from '../../contract/telemetry/telemetry-schemas.ts'
import { formatHour } from '../hour.ts'
import type { LiveRow } from '../rows/live-rows.ts'
import { percentilesOf } from '../sketch/measures.ts'
import type { HourKey, Row, RowFilter, SummaryRow } from '../store/row.ts'
import type { ReadStore } from './read-store.ts'

/** A few milliseconds of work. */
const ROWS_PER_TURN = 20

/** Rows in memory, and their stored copies. */
interface LiveHours {
  changedHours(siteId: string): LiveRow<HourKey>[]
  readHour(siteId: string, row: LiveRow<HourKey>): Row
}

/**
 * The rows of a summary that are newer than their stored copies. Lets other work run in between.
 */
export async function readLive(live: LiveHours, filter: RowFilter): Promise<SummaryRow[]> {
  const { siteId } = filter
  const rows: SummaryRow[] = []
  for (const row of live.changedHours(siteId).filter(({ key }) => isWanted(key, filter))) {
    if (rows.length % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn()
    const { samples, measures } = live.readHour(siteId, row)
    const percentiles = byVital((vital) => percentilesOf(vital, measures))
    rows.push({ ...row.key, samples, percentiles })
  }
  return rows
}

/** Reads the rows of a summary. Those of `live` replace their stored copies. */
export async function readSummary(
  store: ReadStore,
  filter: RowFilter,
  live: readonly SummaryRow[],
): Promise<RumSummary['metrics']> {
  const all = [...(await store.listSummary(filter)), ...live]
  const rows = new Map(all.map((row) => [nameOf(row), row]))
  return [...rows.values()].sort(compareRows).map(toWire)
}

function nameOf({ hour, country, device }: HourKey): string {
  return `${hour} ${country} ${device}`
}

function isWanted(row: HourKey, { period, country, device }: RowFilter): boolean {
  const isInPeriod = row.hour >= period.from && row.hour <= period.to
  return (
    isInPeriod && row.country === (country ?? row.country) && row.device === (device ?? row.device)
  )
}

function compareRows(a: SummaryRow, b: SummaryRow): number {
  return a.hour - b.hour || compare(a.country, b.country) || compare(a.device, b.device)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function toWire({ hour, country, device, samples, percentiles }: SummaryRow) {
  return {
    hour: formatHour(hour),
    country: country || null,
    deviceType: device || null,
    sampleCount: samples,
    ...percentiles,
  }
}
