import { byVital, VITALS } from '../../contract/telemetry/metrics.ts'
import type { PercentileSet } from '../../contract/telemetry/telemetry-schemas.ts'
import { type Measures, percentilesOf } from '../sketch/measures.ts'
import type { HourKey, SummaryRow } from './row.ts'

/** The percentile columns of `rum_hours`. */
const PERCENTILES = VITALS.flatMap((vital) =>
  (['p50', 'p75', 'p95'] as const).map((name) => ({
    vital,
    name,
    column: `${vital}_${name}` as const,
  })),
)
export const PERCENTILE_COLUMNS = PERCENTILES.map(({ column }) => column)
export const SUMMARY_COLUMNS = ['hour', 'country', 'device', 'samples', ...PERCENTILE_COLUMNS]

type PercentileColumns = Readonly<Record<(typeof PERCENTILES)[number]['column'], number | null>>
export type SummaryColumns = HourKey & { readonly samples: number } & PercentileColumns

/** Computes the values of the percentile columns, in their order. */
export function toPercentiles(measures: Measures): (number | null)[] {
  return VITALS.flatMap((vital) => {
    const { p50, p75, p95 } = percentilesOf(vital, measures)
    return [p50, p75, p95]
  })
}

export function toSummaryRow(row: SummaryColumns): SummaryRow {
  const { hour, country, device, samples } = row
  const percentiles = byVital((): PercentileSet => ({ p50: null, p75: null, p95: null }))
  for (const { vital, name, column } of PERCENTILES) percentiles[vital][name] = row[column]
  return { hour, country, device, samples, percentiles }
}
