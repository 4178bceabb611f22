import { byVital, VITALS } from '../../contract/telemetry/metrics.ts'
import type { PercentileSet } from '../../contract/telemetry/telemetry-schemas.ts'
import { type Measures, percentilesOf } from '../sketch/measures.ts'
import type { SummaryRow } from './row.ts'

const PERCENTILES = VITALS.flatMap((vital) =>
  (['p50', 'p75', 'p95'] as const).map((name) => ({ vital, name })),
)
/** The percentile columns of `rum_hours`. */
export const PERCENTILE_COLUMNS = PERCENTILES.map(({ vital, name }) => `${vital}_${name}`)
export const SUMMARY_COLUMNS = ['hour', 'country', 'device', 'samples', ...PERCENTILE_COLUMNS]

/** The values of `SUMMARY_COLUMNS`. */
export type SummaryTuple = [
  hour: number,
  country: string,
  device: string,
  samples: number,
  ...percentiles: (number | null)[],
]

/** Computes the values of the percentile columns, in their order. */
export function toPercentiles(measures: Measures): (number | null)[] {
  return VITALS.flatMap((vital) => {
    const { p50, p75, p95 } = percentilesOf(vital, measures)
    return [p50, p75, p95]
  })
}

export function toSummaryRow(row: SummaryTuple): SummaryRow {
  const [hour, country, device, samples, ...values] = row
  const percentiles = byVital((): PercentileSet => ({ p50: null, p75: null, p95: null }))
  for (const [at, { vital, name }] of PERCENTILES.entries()) {
    percentiles[vital][name] = values[at] ?? null
  }
  return { hour, country, device, samples, percentiles }
}
