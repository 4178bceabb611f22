import { VERSION } from '../../config/version.ts'
import { reasonOf } from '../../parts/reason.ts'
import { atMost } from './at-most.ts'

export type Idle = ReturnType<typeof watchIdle>

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** How long to wait for more data. */
  readonly idleMs?: number | undefined
  /** Sends a request and follows redirects; default: `fetch`, which follows all. */
  readonly send?: Send | undefined
}

export type Send = (url: string, init: RequestInit) => Promise<Response>

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
 * Requests `url` and follows redirects; credentials in the headers are sent to its origin only. Ignores `idleMs`.
 */
export async function request(
  url: string,
  { headers, send = fetch }: RequestOptions,
  { signal, touch }: Idle,
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Response> {
  const own = { 'user-agent': `Meridian/${VERSION}` }
  try {
    return await send(url, { method, signal, headers: { ...headers, ...own } })
  } catch (cause) {
    throw failedRequest(url, cause, signal.aborted ? 'try again' : undefined)
  } finally {
    touch()
  }
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
