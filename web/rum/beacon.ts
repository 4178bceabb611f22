import type { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import type { PageError } from './page-error.ts'

/** The limits of the endpoint. The schemas of the contract would make the script too large. */
export const MAX_BYTES = 4096
export const MAX_ERRORS = 10
export const PATH_LENGTH = 500
/**
 * Limits to try until the beacon fits: the number of errors and the length of each stack. Stacks are
 * the longest part and the least needed. The first errors are kept, since they often cause later ones.
 */
const TRIMS = [
  [MAX_ERRORS, 1000],
  [MAX_ERRORS, 300],
  [MAX_ERRORS, 0],
  [5, 0],
  [2, 0],
  [1, 0],
] as const

/** The measurements of a page view that has ended. */
export interface Finished extends Beacon {
  readonly metrics: NonNullable<Beacon['metrics']>
  readonly errors: readonly PageError[] & Beacon['errors']
}

/** The decoded path of a URL, without its query string. The server decodes the rest, such as `%25`. */
export function pathOf(url: string): string {
  let { pathname } = new URL(url)
  try {
    pathname = decodeURI(pathname.replace(/%25/g, '%2525'))
  } catch {
    // Not UTF-8.
  }
  return pathname.slice(0, PATH_LENGTH)
}

/** Returns JSON of at most `MAX_BYTES`; null if nothing was measured. */
export function writeBeacon({ metrics, attribution, errors, ...rest }: Finished): string | null {
  const measured =
    Object.keys(metrics).length > 0
      ? { ...rest, metrics, ...(attribution && { attribution }) }
      : rest
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
