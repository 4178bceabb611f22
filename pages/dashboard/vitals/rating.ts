import {
  CORE_VITALS,
  type CoreVital,
  METRIC_RULES,
  ruleOf,
  VITALS,
  type Vital,
} from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { count } from '../parts/format.ts'

export type Rating = 'good' | 'needs-improvement' | 'poor'
/** 75th percentiles; null if there are no values. */
export type Percentiles75 = RumOverview['devices'][number]['p75']

export const RATING_LABELS: Readonly<Record<Rating, string>> = {
  good: 'Good',
  'needs-improvement': 'Needs improvement',
  poor: 'Poor',
}

/** The vitals that the page shows even without values. */
export const CURRENT_VITALS = VITALS.filter((vital) => !ruleOf(vital).isLegacy)

export function rate(vital: Vital, value: number): Rating {
  const { good, poor } = METRIC_RULES[vital]
  if (value <= good) return 'good'
  return value <= poor ? 'needs-improvement' : 'poor'
}

export type Verdict = 'passed' | 'failed' | 'unknown'

/**
 * A site passes if all Core Web Vitals are good at p75. INP may be missing, since not every visitor
 * clicks, but LCP and CLS may not.
 */
export function judge(p75: Pick<Percentiles75, CoreVital>): Verdict {
  const values = CORE_VITALS.map((vital) => ({ vital, value: p75[vital] }))
  const isBad = values.some(({ vital, value }) => value !== null && rate(vital, value) !== 'good')
  if (isBad) return 'failed'
  return p75.lcp === null || p75.cls === null ? 'unknown' : 'passed'
}

/** Such as 1,840 ms, or 0.021 for CLS. */
export function valueText(vital: Vital, value: number): string {
  return ruleOf(vital).unit === 'ms' ? milliseconds(value) : String(Math.round(value * 1000) / 1000)
}

export function milliseconds(value: number): string {
  return `${count(Math.round(value))} ms`
}

/** Formats a share between 0 and 1: 12 %, or 0.4 % if it is less than 1 %. */
export function percent(share: number): string {
  const of100 = share * 100
  return `${of100 > 0 && of100 < 1 ? Math.max(0.1, Math.round(of100 * 10) / 10) : Math.round(of100)} %`
}
