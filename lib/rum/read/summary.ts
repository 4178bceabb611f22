import { byVital } from '../../contract/telemetry/metrics.ts'
import type { RumSummary } from '../../contract/telemetry/telemetry-schemas.ts'
import { formatHour } from '../hour.ts'
import type { LiveRow } from '../rows/live-rows.ts'
import { percentilesOf } from '../sketch/measures.ts'
import type { HourKey, RowFilter, SummaryRow } from '../store/rows.ts'
import type { RumStore } from '../store/store.ts'

/** Reads the rows of a summary. `fresh` are rows in memory, which replace their stored copies. */
export function readSummary(
  store: RumStore,
  filter: RowFilter,
  fresh: readonly LiveRow<HourKey>[],
): RumSummary['metrics'] {
  const stored = store.listSummary(filter)
  const changed = fresh.filter(({ key }) => isWanted(key, filter))
  return (changed.length === 0 ? stored : replaceRows(stored, changed)).map(toWire)
}

function replaceRows(stored: readonly SummaryRow[], fresh: readonly LiveRow<HourKey>[]) {
  const rows = new Map(stored.map((row) => [nameOf(row), row]))
  for (const { key, samples, measures } of fresh) {
    const percentiles = byVital((vital) => percentilesOf(vital, measures))
    rows.set(nameOf(key), { ...key, samples, percentiles })
  }
  return [...rows.values()].sort(compareRows)
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
