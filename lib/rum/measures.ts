import { METRIC_RULES, METRICS, type Metric } from './metrics.ts'
import { percentiles } from './percentiles.ts'
import { mergeSketches, Sketch } from './sketch.ts'

/** The values of one metric: their distribution, and how many are good, middling and poor. */
export interface Measure {
  readonly sketch: Sketch
  good: number
  needsImprovement: number
  poor: number
}

export type Values = Readonly<Partial<Record<Metric, number>>>
export type Percentiles = readonly [p50: number, p75: number, p95: number]

/** What one row has of each metric; undefined where no beacon had it. */
export type Measures = Partial<Record<Metric, Measure>>

const SHARES = [0.5, 0.75, 0.95]
/** Between two values percentiles are interpolated, to this fraction of the scale. */
const FINER = 1000

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

export function newMeasure(sketch = new Sketch()): Measure {
  return { sketch, good: 0, needsImprovement: 0, poor: 0 }
}

function rate(measure: Measure, metric: Metric, value: number): void {
  const { good, poor } = METRIC_RULES[metric]
  if (good === undefined || poor === undefined) return
  if (value <= good) measure.good += 1
  else if (value <= poor) measure.needsImprovement += 1
  else measure.poor += 1
}

/** p50, p75 and p95 in the unit of the metric; null where there are no values. */
export function percentilesOf(metric: Metric, measure: Measure | undefined): Percentiles | null {
  if (measure === undefined) return null
  const { scale } = METRIC_RULES[metric]
  const inUnit = (value = 0) => Math.round(value * FINER) / (scale * FINER)
  const found = percentiles(measure.sketch.centroids(), SHARES)
  return found.length === 0 ? null : [inUnit(found[0]), inUnit(found[1]), inUnit(found[2])]
}

/** One measure of all: percentiles are never averaged. undefined: there is none. */
export function mergeMeasures(all: readonly Measure[]): Measure | undefined {
  if (all.length === 0) return undefined
  const merged = newMeasure(mergeSketches(all.map(({ sketch }) => sketch)))
  for (const { good, needsImprovement, poor } of all) {
    merged.good += good
    merged.needsImprovement += needsImprovement
    merged.poor += poor
  }
  return merged
}
