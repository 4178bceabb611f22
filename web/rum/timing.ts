import type { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'

type Metrics = NonNullable<Beacon['metrics']>

/** The properties used of a `PerformanceNavigationTiming`, in milliseconds. */
export interface NavigationTiming {
  readonly activationStart?: number
  readonly domainLookupStart: number
  readonly domainLookupEnd: number
  readonly secureConnectionStart: number
  readonly connectEnd: number
  readonly requestStart: number
  readonly responseStart: number
  readonly responseEnd: number
}

/**
 * The duration of each step of a navigation. Omits steps that did not happen: a reused connection
 * needs no DNS look-up, and the response has no end if the visitor leaves early.
 */
export function timingMetrics(entry: NavigationTiming): Metrics {
  const { activationStart = 0, requestStart, responseStart, responseEnd } = entry
  if (responseStart <= 0) return {}
  const secured = entry.secureConnectionStart > 0
  return {
    ttfb: roundMs(Math.max(responseStart - activationStart, 0)),
    ...span('dns', entry.domainLookupStart, entry.domainLookupEnd),
    ...(secured && span('tls', entry.secureConnectionStart, entry.connectEnd)),
    ...span('request', requestStart, responseStart),
    ...span('response', responseStart, responseEnd),
  }
}

/** Rounds to tenths of a millisecond, since browsers are not more precise. */
export function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10
}

function span(name: keyof Metrics, start: number, end: number): Metrics {
  return end > start ? { [name]: roundMs(end - start) } : {}
}
