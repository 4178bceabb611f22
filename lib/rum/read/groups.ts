import { byMetric, byVital, type Metric, VITALS } from '../../contract/telemetry/metrics.ts'
import type { MetricOverview, VitalPoint } from '../../contract/telemetry/telemetry-overview.ts'
import { inUnit, PERCENTILE_SHARES, toPercentileSet } from '../sketch/measures.ts'
import type { SpanMeasures } from '../sketch/measures-blob.ts'
import { Pool } from '../sketch/pool.ts'

/** A row whose centroids are among those of many others. */
export interface DecodedRow {
  readonly samples: number
  readonly measures: SpanMeasures
}

/** The totals of several rows. */
export class Group {
  samples = 0
  readonly #metrics: readonly Metric[]
  readonly #pools = byMetric(() => new Pool())

  constructor(metrics: readonly Metric[] = VITALS) {
    this.#metrics = metrics
  }

  add({ samples, measures }: DecodedRow): void {
    this.samples += samples
    for (const metric of this.#metrics) {
      const measure = measures[metric]
      if (measure !== undefined) this.#pools[metric].add(measure)
    }
  }

  /** Adds the rows of another group with the same metrics. */
  join(other: Group): void {
    this.samples += other.samples
    for (const metric of this.#metrics) this.#pools[metric].join(other.#pools[metric])
  }

  toWire() {
    const p75 = byVital((vital) => inUnit(vital, this.#pools[vital].percentiles([0.75])[0]))
    return { sampleCount: this.samples, p75 }
  }

  metric(metric: Metric): MetricOverview {
    const pool = this.#pools[metric]
    const range = p75RangeShares(pool.n)
    // At once, because each call reads the centroids of all rows.
    const shares = [...PERCENTILE_SHARES, ...range].sort((one, other) => one - other)
    const found = new Map(pool.percentiles(shares).map((value, at) => [shares[at], value]))
    const [low = null, high = null] = range.map((share) => inUnit(metric, found.get(share)))
    return {
      sampleCount: pool.n,
      ...toPercentileSet(
        metric,
        PERCENTILE_SHARES.map((share) => found.get(share)),
      ),
      p75Range: low === null || high === null ? null : { low, high },
      ratings: toRatings(pool),
    }
  }

  /** The metric at a time, for a chart. */
  point(metric: Metric): VitalPoint {
    const pool = this.#pools[metric]
    const percentiles = toPercentileSet(metric, pool.percentiles(PERCENTILE_SHARES))
    return { sampleCount: pool.n, ...percentiles }
  }
}

/** Rows grouped by one of their properties. */
export class Grouping {
  readonly #groups = new Map<string, Group>()
  readonly #metrics: readonly Metric[]

  constructor(metrics: readonly Metric[] = VITALS) {
    this.#metrics = metrics
  }

  add(name: string, row: DecodedRow): void {
    const group = this.#groups.get(name) ?? new Group(this.#metrics)
    this.#groups.set(name, group)
    group.add(row)
  }

  total(): Group {
    const total = new Group(this.#metrics)
    for (const group of this.#groups.values()) total.join(group)
    return total
  }

  /** The names and their groups, largest group first. */
  list(): [string, Group][] {
    return [...this.#groups].sort(([, a], [, b]) => b.samples - a.samples)
  }
}

/**
 * Three of four visitors are below the true p75, so the number of values below it is binomial, whatever their
 * distribution: in 95 % of cases it lies between the quantiles at 0.75 ± 2 √(0.75 × 0.25 ÷ n) (W. J. Conover,
 * Practical Nonparametric Statistics, § 3.2). Its two sides may be of unequal length.
 */
function p75RangeShares(n: number): number[] {
  const margin = 2 * Math.sqrt((0.75 * 0.25) / n)
  return [Math.max(0, 0.75 - margin), Math.min(1, 0.75 + margin)]
}

const SHARE_SCALE = 10_000

function toRatings({ good, needsImprovement, poor }: Pool) {
  const all = good + needsImprovement + poor
  if (all === 0) return null
  const share = (count: number) => Math.round((count / all) * SHARE_SCALE) / SHARE_SCALE
  return { good: share(good), needsImprovement: share(needsImprovement), poor: share(poor) }
}
