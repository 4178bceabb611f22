import type { RumOverview } from '../../../lib/contract/telemetry-overview.ts'
import { VITAL_THRESHOLDS, type Vital } from '../../../lib/contract/vitals.ts'
import { count } from '../words.ts'

export type Rating = 'good' | 'needs-improvement' | 'poor'
/** 75th percentiles; null: no values. */
export type Percentiles75 = RumOverview['devices'][number]['p75']

export const RATING_WORDS: Readonly<Record<Rating, string>> = {
  good: 'Good',
  'needs-improvement': 'Needs improvement',
  poor: 'Poor',
}

export const VITAL_NAMES: Readonly<Record<Vital, string>> = {
  lcp: 'Largest Contentful Paint',
  inp: 'Interaction to Next Paint',
  cls: 'Cumulative Layout Shift',
  ttfb: 'Time to First Byte',
  fid: 'First Input Delay',
}

/** Those by which a page passes, as web.dev/articles/vitals has it. */
export const CORE_VITALS = ['lcp', 'inp', 'cls'] as const satisfies readonly Vital[]
export const VITALS = [...CORE_VITALS, 'ttfb'] as const satisfies readonly Vital[]

export function rate(vital: Vital, value: number): Rating {
  const { good, poor } = VITAL_THRESHOLDS[vital]
  if (value <= good) return 'good'
  return value <= poor ? 'needs-improvement' : 'poor'
}

export type Verdict = 'passed' | 'failed' | 'unknown'

/**
 * Passed: all Core Web Vitals are good at p75. INP may be missing, since not everybody clicks; without
 * LCP or CLS nothing is passed.
 */
export function judge(p75: Percentiles75): Verdict {
  const values = CORE_VITALS.map((vital) => ({ vital, value: p75[vital] }))
  const isBad = values.some(({ vital, value }) => value !== null && rate(vital, value) !== 'good')
  if (isBad) return 'failed'
  return p75.lcp === null || p75.cls === null ? 'unknown' : 'passed'
}

/** 1,840 ms, or 0.021 of CLS. */
export function valueText(vital: Vital, value: number): string {
  return vital === 'cls' ? String(Math.round(value * 1000) / 1000) : milliseconds(value)
}

export function milliseconds(value: number): string {
  return `${count(Math.round(value))} ms`
}

/** A share of 1: 12 %, and 0.4 % where that is less than one. */
export function percent(share: number): string {
  const of100 = share * 100
  return `${of100 > 0 && of100 < 1 ? Math.max(0.1, Math.round(of100 * 10) / 10) : Math.round(of100)} %`
}
