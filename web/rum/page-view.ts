import type { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { type Finished, MAX_ERRORS, pathOf } from './beacon.ts'
import { type Device, deviceTypeOf } from './device.ts'
import { isSameError, type PageError } from './page-error.ts'
import { timingMetrics } from './timing.ts'

/** What is measured from the start of a page view until the page is hidden, or has two later views. */
export interface PageView {
  readonly path: string
  readonly metrics: NonNullable<Beacon['metrics']>
  attribution: Beacon['attribution']
  readonly errors: PageError[]
  /** Only a page that was fetched has timings of the network, not one restored from the back/forward cache. */
  readonly isFetched: boolean
  isSent: boolean
}

interface Connection {
  readonly connection?: { readonly effectiveType?: string }
}

export function newPageView(
  url: string,
  { isFetched }: Pick<PageView, 'isFetched'> = { isFetched: false },
): PageView {
  return {
    path: pathOf(url),
    metrics: {},
    attribution: undefined,
    errors: [],
    isFetched,
    isSent: false,
  }
}

export function addError({ errors }: PageView, error: PageError): void {
  if (errors.length >= MAX_ERRORS || errors.some((known) => isSameError(known, error))) return
  errors.push(error)
}

/** `path` replaces that of the view. */
export function finish(view: PageView, path = view.path): Finished {
  const { metrics, attribution, errors, isFetched } = view
  // safe: only adds optional properties, which some browsers have
  const device = navigator as Device & Connection
  const connectionType = device.connection?.effectiveType
  return {
    path,
    deviceType: deviceTypeOf(device),
    ...(connectionType && { connectionType }),
    metrics: { ...(isFetched && navigationMetrics()), ...metrics },
    ...(attribution && { attribution }),
    errors,
  }
}

function navigationMetrics() {
  const [entry] = performance.getEntriesByType('navigation')
  return entry instanceof PerformanceNavigationTiming && timingMetrics(entry)
}
