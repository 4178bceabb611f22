interface MetricRule {
  /** The name in the dashboard. */
  readonly name: string
  readonly unit: 'ms' | 'none'
  /** Larger values are dropped. */
  readonly max: number
  /** Stored values are rounded to 1 / scale. */
  readonly scale: number
  /** Values up to this one are good. Only vitals are rated. */
  readonly good?: number
  /** Values above this one are poor. */
  readonly poor?: number
  /** Core Web Vitals decide whether a page passes. */
  readonly isCore?: true
  /** Legacy vitals have been replaced by others; pages show them in a fold. */
  readonly isLegacy?: true
}

const TIME = { unit: 'ms', max: 600_000, scale: 100 } as const

/**
 * The metrics of a beacon; those with thresholds are vitals. The thresholds come from
 * web.dev/articles/defining-core-web-vitals-thresholds; those of TTFB and FID from
 * web.dev/articles/ttfb and web.dev/articles/fid. Stored sketches number the metrics in this order,
 * so append new ones. A new vital also needs its three columns in rum_hours.
 */
export const METRIC_RULES = {
  lcp: { ...TIME, name: 'Largest Contentful Paint', good: 2_500, poor: 4_000, isCore: true },
  inp: { ...TIME, name: 'Interaction to Next Paint', good: 200, poor: 500, isCore: true },
  cls: {
    name: 'Cumulative Layout Shift',
    unit: 'none',
    max: 100,
    scale: 100_000,
    good: 0.1,
    poor: 0.25,
    isCore: true,
  },
  ttfb: { ...TIME, name: 'Time to First Byte', good: 800, poor: 1_800 },
  fid: { ...TIME, name: 'First Input Delay', good: 100, poor: 300, isLegacy: true },
  dns: { ...TIME, name: 'DNS lookup' },
  tls: { ...TIME, name: 'TLS handshake' },
  request: { ...TIME, name: 'Waiting for the first byte' },
  response: { ...TIME, name: 'Loading the document' },
} as const satisfies Readonly<Record<string, MetricRule>>

type Rules = typeof METRIC_RULES
export type Metric = keyof Rules
export type Vital = MetricWith<'good'>

/** The vitals that decide whether a page passes. */
export type CoreVital = MetricWith<'isCore'>

type MetricWith<Field extends keyof MetricRule> = {
  [Name in Metric]: Field extends keyof Rules[Name] ? Name : never
}[Metric]

export const METRICS = Object.keys(METRIC_RULES) as Metric[] // safe: the keys of a const table
export const VITALS = METRICS.filter(isVital)
export const CORE_VITALS = METRICS.filter(isCoreVital)

export function isVital(metric: Metric): metric is Vital {
  return 'good' in METRIC_RULES[metric]
}

function isCoreVital(metric: Metric): metric is CoreVital {
  return 'isCore' in METRIC_RULES[metric]
}

/** The rule of a metric, including the fields that only some metrics have. */
export function ruleOf(metric: Metric): MetricRule {
  return METRIC_RULES[metric]
}

/** An object with a value for each vital. */
export function byVital<Value>(make: (vital: Vital) => Value): Record<Vital, Value> {
  return byName(VITALS, make)
}

/** An object with a value for each metric. */
export function byMetric<Value>(make: (metric: Metric) => Value): Record<Metric, Value> {
  return byName(METRICS, make)
}

function byName<Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name) => Value,
): Record<Name, Value> {
  const entries = names.map((name) => [name, make(name)])
  return Object.fromEntries(entries) // safe: each name has a value
}
