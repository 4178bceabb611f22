import { isApiError, MeridianError, toError } from './error.ts'
import { retryDelay } from './retry.ts'
import type { CallOptions } from './types.ts'

/** Where calls go, and how. */
export interface Service {
  /** Without a slash at the end. */
  readonly url: string
  readonly key: string
  readonly fetch: typeof fetch
  /** Milliseconds that an attempt may take. */
  readonly timeoutMs: number
  /** Further attempts after the first one. */
  readonly retries: number
  /** Milliseconds: the longest wait before a further attempt. */
  readonly maxRetryDelayMs: number
}

export interface Call {
  readonly path: string
  /** Parameters of the query; those that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent with POST, as JSON. */
  readonly body?: object
  /** Whether a body without an error is the answer, although its status is 404: nobody knows. */
  readonly mayBeUnknown?: true
}

/** Returns the JSON of the answer. Throws MeridianError, or the reason of the caller's signal. */
export async function send(service: Service, call: Call, options: CallOptions): Promise<unknown> {
  const { retries = service.retries, signal } = options
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt(service, call, options)
    if (!(outcome instanceof MeridianError)) return outcome
    const delay = retryDelay(outcome, {
      attempts,
      retries,
      maxDelayMs: service.maxRetryDelayMs,
      isRead: call.body === undefined,
      random: Math.random(),
    })
    if (delay === undefined) throw outcome
    await sleep(delay, signal)
  }
}

/** Throws only the reason of the caller's signal. */
async function attempt(service: Service, call: Call, options: CallOptions): Promise<unknown> {
  const { signal, timeoutMs = service.timeoutMs } = options
  signal?.throwIfAborted()
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await service.fetch(
      addressOf(service, call),
      toInit(service, call, signal === undefined ? timeout : AbortSignal.any([signal, timeout])),
    )
    return readAnswer(response, await response.text(), call)
  } catch (cause) {
    signal?.throwIfAborted()
    if (timeout.aborted) {
      const message = `No answer from ${service.url} within ${timeoutMs} ms`
      return new MeridianError(message, { status: 0, code: 'TIMEOUT', cause })
    }
    const message = `Cannot reach ${service.url}`
    return new MeridianError(message, { status: 0, code: 'NETWORK_ERROR', cause })
  }
}

function addressOf({ url }: Service, { path, query = {} }: Call): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text === '' ? `${url}${path}` : `${url}${path}?${text}`
}

function toInit({ key }: Service, { body }: Call, signal: AbortSignal): RequestInit {
  // A redirect would carry the key to another host.
  const init = { signal, redirect: 'manual' } as const
  if (body === undefined) return { ...init, headers: { 'X-API-Key': key } }
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  return { ...init, method: 'POST', headers, body: JSON.stringify(body) }
}

function readAnswer(response: Response, text: string, { mayBeUnknown }: Call): unknown {
  const body = parse(text)
  const isAnswer = response.ok || (mayBeUnknown === true && response.status === 404)
  if (isAnswer && body !== undefined && !isApiError(body)) return body
  return toError(response, body, Date.now())
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Throws the reason of the signal as soon as it is aborted. */
function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, delayMs)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
