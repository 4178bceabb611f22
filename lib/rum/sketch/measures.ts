import { METRIC_RULES, METRICS, type Metric } from './metrics.ts'
import { Sketch } from './sketch.ts'

/** The values of one metric: their distribution, and how many are good, middling and poor. */
export interface Measure {
  readonly sketch: Sketch
  good: number
  needsImprovement: number
  poor: number
}

export type Values = Readonly<Partial<Record<Metric, number>>>

/** What one row has of each metric; undefined where no beacon had it. */
export type Measures = Partial<Record<Metric, Measure>>

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
