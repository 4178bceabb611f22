import { type CoreVital, METRIC_RULES, ruleOf, type Vital } from './metrics.ts'
import type { RumOverview } from './telemetry-overview.ts'
import type { DeviceType } from './telemetry-schemas.ts'

/** Keys of the bands between the thresholds of a vital. */
export type Rating = 'good' | 'needs-improvement' | 'poor'

/** The kinds of devices that have a verdict, as Google's reports do. */
export const JUDGED = ['mobile', 'desktop'] as const

/** With fewer views, percentiles differ by chance: they are neither judged nor compared. */
export const MIN_VIEWS = 300

export function rate(vital: Vital, value: number): Rating {
  const { good, poor } = METRIC_RULES[vital]
  if (value <= good) return 'good'
  return value <= poor ? 'needs-improvement' : 'poor'
}

/** Of whom a sentence is. */
export const WHOSE: Readonly<Record<DeviceType | 'all', string>> = {
  mobile: 'On phones',
  desktop: 'On desktops',
  tablet: 'On tablets',
  all: 'For all visitors',
}

/**
 * The page with the worst value, of those with enough views; null if none of them is at least as bad as `whole`,
 * the value of all pages: pages with few views are then worse.
 */
export function worstPage(paths: RumOverview['paths'], vital: CoreVital, whole: number) {
  let worst: { readonly path: string; readonly value: number } | null = null
  for (const { path, sampleCount, p75 } of paths) {
    const value = p75[vital]
    if (value === null || !path.startsWith('/') || sampleCount < MIN_VIEWS) continue
    if (value >= (worst?.value ?? whole)) worst = { path, value }
  }
  return worst
}

/**
 * Such as 1.8 s, 264 ms, or 0.02 for CLS. Has as few digits as possible, but enough that the text has the
 * rating of the value: 2,510 ms is 2.51 s, since 2.5 s would be good.
 */
export function valueText(vital: Vital, value: number): string {
  return columnText(vital, [value])(value)
}

/** Returns a function that writes these values of a column like `valueText`, but all of a unit with as many digits. */
export function columnText(
  vital: Vital,
  values: readonly (number | null)[],
): (value: number) => string {
  const digits = new Map<Unit, number>()
  for (const value of values) {
    if (value === null) continue
    const unit = unitOf(vital, value)
    digits.set(unit, Math.max(digits.get(unit) ?? 0, digitsFor(vital, unit, value)))
  }
  return (value) => {
    const unit = unitOf(vital, value)
    return textIn(unit, value, digits.get(unit))
  }
}

/** How many more digits the value needs, so that the text has its rating. */
function digitsFor(vital: Vital, { size, digits }: Unit, value: number): number {
  const keepsRating = (more: number) =>
    rate(vital, Number((value / size).toFixed(digits + more)) * size) === rate(vital, value)
  return [0, 1, 2].find(keepsRating) ?? 3
}

/** Such as 1.8 s or, below one second, 264 ms. */
export function durationText(ms: number): string {
  return textIn(durationUnitOf(ms), ms)
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

function unitOf(vital: Vital, value: number): Unit {
  return ruleOf(vital).unit === 'none' ? SCORE : durationUnitOf(value)
}

/** 999.6 ms would be shown as 1000 ms. */
function durationUnitOf(ms: number): Unit {
  return ms >= 999.5 ? SECONDS : MILLISECONDS
}

function textIn({ size, digits, suffix }: Unit, value: number, more = 0): string {
  return (value / size).toFixed(digits + more) + suffix
}
