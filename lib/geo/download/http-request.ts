import { lookup } from 'node:dns/promises'
import { VERSION } from '../../config/version.ts'
import { parseAddress } from '../../parts/net/address.ts'
import { isPublic } from '../../parts/net/public-address.ts'
import { reasonOf } from '../../parts/reason.ts'
import { atMost } from './at-most.ts'

export type Idle = ReturnType<typeof watchIdle>

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** How long to wait for more data. */
  readonly idleMs?: number | undefined
  /** The longest time that the request with its answer may take; default: any. */
  readonly limitMs?: number | undefined
}

const MAX_REDIRECTS = 5
const IDLE_MS = 30_000
const MAX_TEXT_BYTES = 2 ** 20

/** Detects a stalled transfer: the signal aborts when `touch` has not been called for `idleMs`. */
export function watchIdle(idleMs = IDLE_MS) {
  const controller = new AbortController()
  const reason = new Error(`no data arrived for ${idleMs / 1000} s`)
  const timer = setTimeout(() => controller.abort(reason), idleMs)
  return {
    signal: controller.signal,
    touch: () => timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/**
 * Requests `url`. Follows redirects within its origin, from http to https on its host, and to https on public
 * addresses: the owner of a list must not make this server read from its private network. Credentials in the
 * headers are sent to the origin of `url` only. Ignores `idleMs`.
 */
export async function request(
  url: string,
  { headers, limitMs }: RequestOptions,
  { signal: idle, touch }: Idle,
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Response> {
  const signal =
    limitMs === undefined ? idle : AbortSignal.any([idle, AbortSignal.timeout(limitMs)])
  const own = { ...headers, 'user-agent': `Meridian/${VERSION}` }
  try {
    return await follow(new URL(url), { method, signal, headers: own, redirect: 'manual' })
  } catch (cause) {
    throw failedRequest(url, cause, idle.aborted ? 'try again' : undefined)
  } finally {
    touch()
  }
}

async function follow(first: URL, init: RequestInit): Promise<Response> {
  let headers = new Headers(init.headers)
  let from = first
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(from, { ...init, headers })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    const to = await targetOf(from, location)
    headers = headersAt(to, from, headers)
    from = to
  }
  throw new Error(`it is redirected more than ${MAX_REDIRECTS} times`)
}

/** The headers after a redirect: another origin gets no credentials. */
export function headersAt(to: URL, from: URL, headers: Headers): Headers {
  const kept = new Headers(headers)
  if (to.origin !== from.origin) kept.delete('authorization')
  return kept
}

async function targetOf(from: URL, location: string): Promise<URL> {
  const to = URL.parse(location, from.href)
  if (to !== null && (await mayFollow(from, to))) return to
  throw new Error(`it is redirected to "${location}", which is not https on a public address`)
}

async function mayFollow(from: URL, to: URL): Promise<boolean> {
  if (to.origin === from.origin) return true
  if (to.protocol !== 'https:' || to.username !== '') return false
  // A mirror in the private network may lead from http to https.
  return (from.port === '' && to.host === from.host) || (await isPublicHost(to))
}

/**
 * `fetch` asks the DNS again, which may then name a private address. A server there gets no request all the same: it
 * has no certificate for the name.
 */
async function isPublicHost({ hostname }: URL): Promise<boolean> {
  const found = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true })
  const addresses = found.map(({ address }) => parseAddress(address))
  return addresses.every((address) => address !== null && isPublic(address))
}

/** Returns the text at `url`, or the status if it is not 200. */
export async function fetchText(url: string, options: RequestOptions): Promise<string | number> {
  using idle = watchIdle(options.idleMs)
  const response = await request(url, options, idle)
  const { status, body } = response
  if (status !== 200 || body === null) {
    await body?.cancel()
    return status === 200 ? '' : status
  }
  try {
    const chunks = await Array.fromAsync(atMost(body, MAX_TEXT_BYTES))
    return Buffer.concat(chunks).toString()
  } catch (cause) {
    throw failedRequest(url, cause)
  }
}

/** An error that names the URL and the reason. `advice` says what the operator can do. */
export function failedRequest(url: string, cause: unknown, advice?: string): Error {
  const then = advice === undefined ? '' : `; ${advice}`
  return new Error(`Cannot download ${url}: ${innermostReason(cause)}${then}`, { cause })
}

/** The message of the innermost cause: the outer errors only say that something failed. */
export function innermostReason(error: unknown): string {
  return reasonOf(innermostCause(error))
}

export function innermostCause(error: unknown): unknown {
  const isOuter = error instanceof Error && error.cause instanceof Error
  return isOuter ? innermostCause(error.cause) : error
}
