import type { Beacon } from '../../lib/contract/telemetry-schemas.ts'
import type { PageError } from './page-error.ts'

/** What the endpoint takes. The contract says the same; its schemas would not fit in a script. */
export const MAX_BYTES = 4096
export const MAX_ERRORS = 10
const PATH_LENGTH = 500
/**
 * How many errors are sent with how much of their stacks, the first that fits. Stacks are the longest
 * part and the least needed; the first errors are kept, since later ones often follow from them.
 */
const TRIMS = [
  [MAX_ERRORS, 1000],
  [MAX_ERRORS, 300],
  [MAX_ERRORS, 0],
  [5, 0],
  [2, 0],
  [1, 0],
] as const

/** What is known of a page view when it is hidden. */
export interface Finished extends Beacon {
  readonly metrics: NonNullable<Beacon['metrics']>
  readonly errors: readonly PageError[] & Beacon['errors']
}

/** The path of a URL, without its query string. */
export function pathOf(url: string): string {
  return new URL(url).pathname.slice(0, PATH_LENGTH)
}

/** The JSON to be sent, of at most `MAX_BYTES`; null where nothing was measured. */
export function writeBeacon({ metrics, errors, ...rest }: Finished): string | null {
  const measured = Object.keys(metrics).length > 0 ? { ...rest, metrics } : rest
  for (const [count, stackLength] of TRIMS) {
    const kept = errors.slice(0, count).map((error) => shorten(error, stackLength))
    if (kept.length === 0) break
    const json = JSON.stringify({ ...measured, errors: kept })
    if (new TextEncoder().encode(json).length <= MAX_BYTES) return json
  }
  return 'metrics' in measured ? JSON.stringify(measured) : null
}

function shorten({ stack, ...error }: PageError, stackLength: number): PageError {
  const kept = stack?.slice(0, stackLength)
  return kept ? { ...error, stack: kept } : error
}
