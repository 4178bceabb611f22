/** The metrics of a beacon, in the order in which sketches are stored: add new ones at the end. */
export const METRICS = [
  'lcp',
  'inp',
  'cls',
  'ttfb',
  'fid',
  'dns',
  'tls',
  'request',
  'response',
] as const
export type Metric = (typeof METRICS)[number]

/** Those that a summary shows. */
export const VITALS = ['lcp', 'inp', 'cls', 'ttfb', 'fid'] as const satisfies readonly Metric[]

export interface MetricRule {
  /** Values above it are dropped. */
  readonly max: number
  /** Values are kept to the nearest fraction of this. */
  readonly scale: number
  /** Up to here a value is good; undefined: the metric is not rated. */
  readonly good?: number
  /** Above this one it is poor. */
  readonly poor?: number
}

const TIME = { max: 600_000, scale: 100 }

/** Thresholds of web.dev/articles/defining-core-web-vitals-thresholds, TTFB and FID included. */
export const METRIC_RULES: Readonly<Record<Metric, MetricRule>> = {
  lcp: { ...TIME, good: 2_500, poor: 4_000 },
  inp: { ...TIME, good: 200, poor: 500 },
  cls: { max: 100, scale: 100_000, good: 0.1, poor: 0.25 },
  ttfb: { ...TIME, good: 800, poor: 1_800 },
  fid: { ...TIME, good: 100, poor: 300 },
  dns: TIME,
  tls: TIME,
  request: TIME,
  response: TIME,
}

/** Between two values percentiles are interpolated, to this fraction of the scale. */
const FINER = 1000

/** A percentile of a sketch in the unit of the metric; null: there is none. */
export function inUnit(metric: Metric, value: number | undefined): number | null {
  if (value === undefined) return null
  return Math.round(value * FINER) / (METRIC_RULES[metric].scale * FINER)
}
