import { METRIC_RULES, METRICS, type Metric, ruleOf } from '../../contract/telemetry/metrics.ts'
import type { PercentileSet } from '../../contract/telemetry/telemetry-schemas.ts'
import { percentiles } from './percentiles.ts'
import { Sketch } from './sketch.ts'

/** The values of one metric: their distribution, and how many have each rating. */
export interface Rated<Distribution> {
  readonly sketch: Distribution
  good: number
  needsImprovement: number
  poor: number
}

export type Measure = Rated<Sketch>

export type Values = Readonly<Partial<Record<Metric, number>>>

/**
 * A metric of a newer release, by its index in that release's `METRICS`. After a rollback, or on an older
 * node, it is kept with its row, but never shown.
 */
export type NewerMetric = `newer ${number}`

/** The metrics of one row. A metric is undefined until a beacon has it. */
export type Measures = Partial<Record<Metric | NewerMetric, Measure>>

export function addValues(measures: Measures, values: Values): void {
  for (const metric of METRICS) {
    const value = values[metric]
    if (value === undefined) continue
    const measure = measures[metric] ?? newMeasure()
    measures[metric] = measure
    measure.sketch.push(Math.round(value * METRIC_RULES[metric].scale))
    rate(measure, metric, value)
  }
}

/** Adds the values of other measures. */
export function addMeasures(measures: Measures, others: Measures): void {
  for (const metric of metricsIn(others)) {
    const other = others[metric]
    if (other === undefined) continue
    const measure = measures[metric] ?? newMeasure()
    measures[metric] = measure
    measure.sketch.add(other.sketch)
    measure.good += other.good
    measure.needsImprovement += other.needsImprovement
    measure.poor += other.poor
  }
}

function metricsIn(measures: Measures) {
  return Object.keys(measures) as (Metric | NewerMetric)[] // safe: the keys of `Measures`
}

export function newMeasure(sketch = new Sketch()): Measure {
  return { sketch, good: 0, needsImprovement: 0, poor: 0 }
}

function rate(measure: Measure, metric: Metric, value: number): void {
  const { good, poor } = ruleOf(metric)
  if (good === undefined || poor === undefined) return
  if (value <= good) measure.good += 1
  else if (value <= poor) measure.needsImprovement += 1
  else measure.poor += 1
}

/** The shares of p50, p75 and p95. */
export const PERCENTILE_SHARES = [0.5, 0.75, 0.95]

export function percentilesOf(metric: Metric, measures: Measures): PercentileSet {
  const sketch = measures[metric]?.sketch
  return toPercentileSet(
    metric,
    sketch ? percentiles(sketch.packed(), sketch.n, PERCENTILE_SHARES) : [],
  )
}

/** Converts the percentiles of a sketch at `PERCENTILE_SHARES`; `found` is empty if it has no values. */
export function toPercentileSet(
  metric: Metric,
  found: readonly (number | undefined)[],
): PercentileSet {
  const [p50, p75, p95] = found
  return { p50: inUnit(metric, p50), p75: inUnit(metric, p75), p95: inUnit(metric, p95) }
}

/** Percentiles are interpolated, then rounded to 1 / FRACTIONS of a stored value's step. */
const FRACTIONS = 1000

/** Converts a percentile of a sketch to the unit of the metric; null if undefined. */
export function inUnit(metric: Metric, value: number | undefined): number | null {
  if (value === undefined) return null
  return Math.round(value * FRACTIONS) / (METRIC_RULES[metric].scale * FRACTIONS)
}
