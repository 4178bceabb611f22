import { inUnit, METRICS, type Metric, VITALS } from './metrics.ts'
import { Pool } from './pool.ts'
import type { Row } from './row.ts'

/** Rows that are told of as one. */
export class Group {
  samples = 0
  readonly #metrics: readonly Metric[]
  readonly #pools = new Map<Metric, Pool>()

  constructor(metrics: readonly Metric[] = VITALS) {
    this.#metrics = metrics
  }

  add({ samples, measures }: Row): void {
    this.samples += samples
    for (const metric of this.#metrics) {
      const measure = measures[metric]
      if (measure !== undefined) this.#pool(metric).add(measure)
    }
  }

  p75() {
    const of = (metric: Metric) => inUnit(metric, this.#pool(metric).percentiles([0.75])[0])
    return { lcp: of('lcp'), inp: of('inp'), cls: of('cls'), ttfb: of('ttfb'), fid: of('fid') }
  }

  tell(metric: Metric) {
    const pool = this.#pool(metric)
    const [p50, p75, p95] = pool.percentiles([0.5, 0.75, 0.95])
    return {
      sampleCount: pool.n,
      p50: inUnit(metric, p50),
      p75: inUnit(metric, p75),
      p95: inUnit(metric, p95),
      ratings: toRatings(pool),
    }
  }

  #pool(metric: Metric): Pool {
    const known = this.#pools.get(metric)
    if (known !== undefined) return known
    const pool = new Pool()
    this.#pools.set(metric, pool)
    return pool
  }
}

/** The groups of rows by one of their properties. */
export class Grouping<Key> {
  readonly #groups = new Map<Key, Group>()

  add(key: Key, row: Row): void {
    const group = this.#groups.get(key) ?? new Group()
    this.#groups.set(key, group)
    group.add(row)
  }

  /** The largest first. */
  list(): [Key, Group][] {
    return [...this.#groups].sort(([, a], [, b]) => b.samples - a.samples)
  }
}

export function allMetrics(): Group {
  return new Group(METRICS)
}

const SHARE_DIGITS = 10_000

function toRatings({ good, needsImprovement, poor }: Pool) {
  const all = good + needsImprovement + poor
  if (all === 0) return null
  const share = (count: number) => Math.round((count / all) * SHARE_DIGITS) / SHARE_DIGITS
  return { good: share(good), needsImprovement: share(needsImprovement), poor: share(poor) }
}
