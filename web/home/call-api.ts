import type { GeolocationResult } from '../../lib/contract/geolocation.ts'
import type { Outcome } from '../../pages/outcome.tsx'

const TIMEOUT_MS = 10_000

/**
 * Looks up by the public API. null: it has no answer for this page, such as where the demo key is
 * used up, or was changed since the page was loaded.
 */
export async function askApi(
  path: string,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<Outcome | null> {
  const began = performance.now()
  try {
    const response = await fetch(path, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const { status } = response
    if (status !== 200 && status !== 404) return null
    const result: GeolocationResult = await response.json()
    if (result.meta?.degraded === true) return null
    const request = { path, status, ms: Math.round(performance.now() - began) }
    return { kind: 'located', result, request }
  } catch {
    return null
  }
}
