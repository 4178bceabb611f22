import { setImmediate as nextTurn } from 'node:timers/promises'
import { byVital } from '../../contract/telemetry/metrics.ts'
import type { RumSummary } from '../../contract/telemetry/telemetry-schemas.ts'
import { formatHour } from '../hour.ts'
import type { LiveRows } from '../rows/live-rows.ts'
import { percentilesOf } from '../sketch/measures.ts'
import type { HourKey, RowFilter, SummaryRow } from '../store/rows.ts'
import type { RumStore } from '../store/store.ts'

/** A few milliseconds of work. */
const ROWS_PER_TURN = 20

/**
 * The rows of a summary that are newer than their stored copies. Lets other work run in between.
 */
export async function readLive(live: LiveRows<HourKey>, filter: RowFilter): Promise<SummaryRow[]> {
  const rows: SummaryRow[] = []
  for (const row of live.changed().filter(({ key }) => isWanted(key, filter))) {
    if (rows.length % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn()
    const { samples, measures } = live.read(row)
    const percentiles = byVital((vital) => percentilesOf(vital, measures))
    rows.push({ ...row.key, samples, percentiles })
  }
  return rows
}

/** Reads the rows of a summary. Those of `live` replace their stored copies. */
export function readSummary(
  store: RumStore,
  filter: RowFilter,
  live: readonly SummaryRow[],
): RumSummary['metrics'] {
  const all = [...store.listSummary(filter), ...live]
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
