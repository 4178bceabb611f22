import { VITAL_THRESHOLDS } from '../contract/vitals.ts'

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

export const METRIC_RULES: Readonly<Record<Metric, MetricRule>> = {
  lcp: { ...TIME, ...VITAL_THRESHOLDS.lcp },
  inp: { ...TIME, ...VITAL_THRESHOLDS.inp },
  cls: { max: 100, scale: 100_000, ...VITAL_THRESHOLDS.cls },
  ttfb: { ...TIME, ...VITAL_THRESHOLDS.ttfb },
  fid: { ...TIME, ...VITAL_THRESHOLDS.fid },
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
