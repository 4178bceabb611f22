import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import type { Outcome } from '../../pages/outcome.tsx'

const TIMEOUT_MS = 10_000

/**
 * Looks up an address through the public API. Returns null after any failure, such as a used-up limit
 * of the demo key: then the page must load instead.
 */
export async function callApi(
  path: string,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<Outcome | null> {
  const startedAt = performance.now()
  try {
    const response = await fetch(path, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const { status } = response
    if (status !== 200 && status !== 404) return null
    const result: GeolocationResult = await response.json()
    if (result.meta?.degraded === true) return null
    const request = { path, status, ms: Math.round(performance.now() - startedAt) }
    return { kind: 'located', result, request }
  } catch {
    return null
  }
}
