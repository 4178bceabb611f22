import type { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { type Finished, MAX_ERRORS, pathOf } from './beacon.ts'
import { type Device, deviceTypeOf } from './device.ts'
import { isSameError, type PageError } from './page-error.ts'
import { timingMetrics } from './timing.ts'

/** What is measured from the start of a page view until the page is first hidden. */
export interface PageView {
  readonly path: string
  readonly metrics: NonNullable<Beacon['metrics']>
  readonly errors: PageError[]
  /** A page restored from the back/forward cache was not fetched. */
  readonly isRestored: boolean
}

interface Connection {
  readonly connection?: { readonly effectiveType?: string }
}

export function newPageView(isRestored: boolean): PageView {
  return { path: pathOf(location.href), metrics: {}, errors: [], isRestored }
}

export function addError({ errors }: PageView, error: PageError): void {
  if (errors.length >= MAX_ERRORS || errors.some((known) => isSameError(known, error))) return
  errors.push(error)
}

export function finish({ path, metrics, errors, isRestored }: PageView): Finished {
  // safe: only adds optional properties, which some browsers have
  const device = navigator as Device & Connection
  const connectionType = device.connection?.effectiveType
  return {
    path,
    deviceType: deviceTypeOf(device),
    ...(connectionType && { connectionType }),
    metrics: { ...(!isRestored && navigationMetrics()), ...metrics },
    errors,
  }
}

function navigationMetrics() {
  const [entry] = performance.getEntriesByType('navigation')
  return entry instanceof PerformanceNavigationTiming && timingMetrics(entry)
}
