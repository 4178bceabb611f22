import {
  CORE_VITALS,
  type CoreVital,
  METRIC_RULES,
  ruleOf,
  VITALS,
} from '../../../lib/contract/telemetry/metrics.ts'
import { JUDGED, MIN_VIEWS, rate } from '../../../lib/contract/telemetry/rating.ts'
import type {
  MetricOverview,
  RumOverview,
} from '../../../lib/contract/telemetry/telemetry-overview.ts'
import type { Audience } from './choice.ts'

export type Device = RumOverview['devices'][number]
/** 75th percentiles; null if there are no values. */
export type Percentiles75 = Device['p75']

/** The vitals that the page shows even without values. */
export const CURRENT_VITALS = VITALS.filter((vital) => !ruleOf(vital).isLegacy)

/** `few`: fewer than `MIN_VIEWS`. `unknown`: LCP or CLS has no values. */
export type Verdict = 'passed' | 'failed' | 'unknown' | 'few'

/**
 * A site passes if all Core Web Vitals are good at p75. INP may be missing, since not every visitor
 * clicks, but LCP and CLS may not.
 */
export function judge(p75: Pick<Percentiles75, CoreVital>, views: number): Verdict {
  if (views < MIN_VIEWS) return 'few'
  if (failedVitals(p75).length > 0) return 'failed'
  return p75.lcp === null || p75.cls === null ? 'unknown' : 'passed'
}

export function failedVitals(p75: Pick<Percentiles75, CoreVital>): CoreVital[] {
  return CORE_VITALS.filter((vital) => {
    const value = p75[vital]
    return value !== null && rate(vital, value) !== 'good'
  })
}

/** Whom the page shows first: phones or desktops, whichever fail, else those with the most views. */
export function firstAudience(devices: readonly Device[]): Audience {
  const isFailing = ({ p75, sampleCount }: Device) => judge(p75, sampleCount) === 'failed'
  const known = devices.filter(({ deviceType }) => JUDGED.some((type) => type === deviceType))
  const first = known.find(isFailing) ?? known[0]
  return JUDGED.find((type) => type === first?.deviceType) ?? 'all'
}

/** The least change that visitors may notice, as a share of the largest good value. */
const NOTICED = 0.05

/**
 * Whether p75 differs by more than visitors overlook, and by more than chance explains in 95 % of cases. The interval
 * of a difference follows from those of both values, by the sides that face each other (G. Y. Zou and A. Donner,
 * Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008).
 */
export function isNotable(vital: CoreVital, now: MetricOverview, before: MetricOverview): boolean {
  const [is, was] = [withRange(now), withRange(before)]
  if (is === null || was === null) return false
  const [more, less] = is.p75 > was.p75 ? [is, was] : [was, is]
  const change = more.p75 - less.p75
  const chance = Math.hypot(more.p75 - more.low, less.high - less.p75)
  return change >= NOTICED * METRIC_RULES[vital].good && change > chance
}

function withRange({ p75, p75Range }: MetricOverview) {
  return p75 === null || p75Range === null ? null : { p75, ...p75Range }
}
