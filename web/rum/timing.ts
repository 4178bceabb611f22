import type { Beacon } from '../../lib/contract/telemetry-schemas.ts'

type Metrics = NonNullable<Beacon['metrics']>

/** What is read of a `PerformanceNavigationTiming`; all in milliseconds. */
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
 * The times of a navigation. What did not happen is left out: no name is looked up for a connection
 * that is used again, and the response of a page that is left early has no end.
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

/** To tenths of a millisecond: browsers tell no more. */
export function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10
}

function span(name: keyof Metrics, start: number, end: number): Metrics {
  return end > start ? { [name]: roundMs(end - start) } : {}
}
