import type { Reply } from '../../../lib/address-lists/look-up-addresses.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'

/** The answer of the page to its script. */
interface Body {
  readonly results?: readonly GeolocationResult[]
  readonly error?: { readonly message: string }
}

const TIMEOUT_MS = 60_000

/** Looks up a part of a batch through the page. Throws an Error with the reason if that fails. */
export async function fetchBatch(
  path: string,
  request: { readonly ips: readonly string[]; readonly fields: readonly string[] },
  signal: AbortSignal,
): Promise<Reply<GeolocationResult>> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch(() => {
    throw new Error('Cannot reach the service.')
  })
  if (response.type === 'opaqueredirect') {
    throw new Error('You are signed out. Sign in again in another tab, then continue.')
  }
  if (response.status === 429) {
    return { kind: 'wait', seconds: Number(response.headers.get('retry-after') ?? 60) }
  }
  const { results, error } = await readBody(response)
  if (results === undefined) {
    throw new Error(`${error?.message ?? `The service answered with status ${response.status}`}.`)
  }
  return { kind: 'answered', results }
}

async function readBody(response: Response): Promise<Body> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return isJson ? response.json() : {}
}
