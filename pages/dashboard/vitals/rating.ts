import {
  CORE_VITALS,
  type CoreVital,
  METRIC_RULES,
  ruleOf,
  VITALS,
  type Vital,
} from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import type { Rating } from '../parts/rated.tsx'
import type { Audience } from './choice.ts'

export type Device = RumOverview['devices'][number]
/** 75th percentiles; null if there are no values. */
export type Percentiles75 = Device['p75']

/** The kinds of devices that have a verdict, as Google's reports do. */
export const JUDGED = ['mobile', 'desktop'] as const

/** The vitals that the page shows even without values. */
export const CURRENT_VITALS = VITALS.filter((vital) => !ruleOf(vital).isLegacy)

/** With fewer views, percentiles differ by chance: they are neither judged nor compared. */
export const MIN_VIEWS = 300

export function rate(vital: Vital, value: number): Rating {
  const { good, poor } = METRIC_RULES[vital]
  if (value <= good) return 'good'
  return value <= poor ? 'needs-improvement' : 'poor'
}

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

/**
 * Such as 1.8 s, 264 ms, or 0.02 for CLS. Has as few digits as possible, but enough that the text has the
 * rating of the value: 2,510 ms is 2.51 s, since 2.5 s would be good.
 */
export function valueText(vital: Vital, value: number): string {
  const unit = ruleOf(vital).unit === 'none' ? SCORE : unitOf(value)
  const keepsRating = (more: number) => {
    return (
      rate(vital, Number((value / unit.size).toFixed(unit.digits + more)) * unit.size) ===
      rate(vital, value)
    )
  }
  return textIn(unit, value, [0, 1, 2].find(keepsRating) ?? 3)
}

/** Such as 1.8 s or, below one second, 264 ms. */
export function durationText(ms: number): string {
  return textIn(unitOf(ms), ms)
}

interface Unit {
  /** In milliseconds, or 1. */
  readonly size: number
  /** Behind the point. */
  readonly digits: number
  /** With a space that breaks no line. */
  readonly suffix: string
}

const SECONDS: Unit = { size: 1_000, digits: 1, suffix: '\u00a0s' }
const MILLISECONDS: Unit = { size: 1, digits: 0, suffix: '\u00a0ms' }
const SCORE: Unit = { size: 1, digits: 2, suffix: '' }

/** 999.6 ms would be shown as 1000 ms. */
function unitOf(ms: number): Unit {
  return ms >= 999.5 ? SECONDS : MILLISECONDS
}

function textIn({ size, digits, suffix }: Unit, value: number, more = 0): string {
  return (value / size).toFixed(digits + more) + suffix
}

/** Formats a share between 0 and 1: 12 %, or 0.4 % if it is less than 1 %. */
export function percent(share: number): string {
  const of100 = share * 100
  return `${of100 > 0 && of100 < 1 ? Math.max(0.1, Math.round(of100 * 10) / 10) : Math.round(of100)} %`
}
