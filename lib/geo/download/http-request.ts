import { VERSION } from '../version.ts'

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** How long to wait for the next byte. */
  readonly idleMs?: number | undefined
}

/** Watches a transfer for bytes that do not come. */
export interface Idle extends Disposable {
  /** Aborts when nothing was touched for the time given. */
  readonly signal: AbortSignal
  touch(): void
}

const IDLE_MS = 30_000

export function watchIdle(idleMs = IDLE_MS): Idle {
  const controller = new AbortController()
  const reason = new Error(`no byte came for ${idleMs / 1000} s`)
  const timer = setTimeout(() => controller.abort(reason), idleMs)
  return {
    signal: controller.signal,
    touch: () => timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** Asks for `url`, following redirects; credentials in the headers stay with their origin. */
export async function request(
  url: string,
  headers: Readonly<Record<string, string>>,
  { signal, touch }: Idle,
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Response> {
  const own = { 'user-agent': `Meridian/${VERSION}` }
  try {
    return await fetch(url, { method, signal, headers: { ...headers, ...own } })
  } catch (cause) {
    throw failedRequest(url, cause, signal.aborted ? 'run it again' : undefined)
  } finally {
    touch()
  }
}

/** The text at `url`, or the status of another answer than 200. */
export async function fetchText(
  url: string,
  { headers, idleMs }: RequestOptions,
): Promise<string | number> {
  using idle = watchIdle(idleMs)
  const response = await request(url, headers ?? {}, idle)
  if (response.status !== 200) {
    await response.body?.cancel()
    return response.status
  }
  try {
    return await response.text()
  } catch (cause) {
    throw failedRequest(url, cause)
  }
}

/** `advice` says what to do about it. */
export function failedRequest(url: string, cause: unknown, advice?: string): Error {
  const then = advice === undefined ? '' : `; ${advice}`
  return new Error(`Cannot download ${url}: ${innermostReason(cause)}${then}`, { cause })
}

/** The message of the innermost error: those around it say only that something has failed. */
export function innermostReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return innermostReason(error.cause)
  return error.message === '' && 'code' in error ? String(error.code) : error.message
}
