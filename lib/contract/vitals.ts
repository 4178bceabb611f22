/**
 * Good up to the first value, poor above the second: web.dev/articles/defining-core-web-vitals-thresholds,
 * TTFB and FID included. Milliseconds, but for CLS.
 */
export const VITAL_THRESHOLDS = {
  lcp: { good: 2_500, poor: 4_000 },
  inp: { good: 200, poor: 500 },
  cls: { good: 0.1, poor: 0.25 },
  ttfb: { good: 800, poor: 1_800 },
  fid: { good: 100, poor: 300 },
} as const

export type Vital = keyof typeof VITAL_THRESHOLDS
