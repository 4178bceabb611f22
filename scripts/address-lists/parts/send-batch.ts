import type { Reply } from '../../../lib/address-lists/look-up-addresses.ts'
import { VERSION } from '../../../lib/config/version.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { asciiJson } from '../../../lib/geo/place/json-text.ts'
import { codeOf, fetchReasonOf } from '../../../lib/parts/reason.ts'
import type { Server } from '../../parts/server-options.ts'
import { printable } from '../../parts/text-table.ts'
import type { ListAnswerOptions } from './source.ts'

/** The body of `POST /v1/ip/batch`. */
interface Batch extends ListAnswerOptions {
  readonly ips: readonly string[]
}

export interface Answer {
  /** As it was sent. */
  readonly address: string
  /** See `Source`. */
  readonly json: string
  /** Whether the result is degraded, because the cap is exceeded. */
  readonly isDegraded: boolean
}

const TIMEOUT_MS = 60_000
/** If the server does not say how long to wait. */
const WAIT_SECONDS = 10

/** Sends one batch. Throws an Error that says what to do, unless the server answers or asks to wait. */
export async function sendBatch(server: Server, body: Batch): Promise<Reply<Answer>> {
  const response = await post(server, body)
  const { status } = response
  if (status === 429 || status === 503) {
    await response.body?.cancel()
    return { kind: 'wait', seconds: secondsIn(response.headers.get('retry-after')) }
  }
  const text = await response.text()
  if (status !== 200) throw new Error(`${server.url} ${printable(refusal(response, text))}`)
  const results = toAnswers(text, body.ips)
  if (results === null) throw new Error(`${server.url} does not answer as Meridian does`)
  return { kind: 'answered', results }
}

async function post({ url, key }: Server, body: Batch): Promise<Response> {
  try {
    return await fetch(`${url}/v1/ip/batch`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
        'x-api-key': key,
        'user-agent': `Meridian/${VERSION}`,
      },
      body: JSON.stringify(body),
      // The key is for this server only.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (cause) {
    throw new Error(`Cannot reach ${url}: ${fetchReasonOf(cause)}${adviceOn(cause)}`, { cause })
  }
}

/** On Node.js, errors of certificates have codes such as DEPTH_ZERO_SELF_SIGNED_CERT. */
function adviceOn(error: unknown): string {
  const code = codeOf(error instanceof Error ? (error.cause ?? error) : error)
  if (!/CERT|SIGNATURE/.test(code)) return ''
  return '; NODE_EXTRA_CA_CERTS can name the file of your own certificate authority'
}

/** `Retry-After` is a number of seconds or a date: RFC 9110, section 10.2.3. */
function secondsIn(retryAfter: string | null): number {
  if (retryAfter === null) return WAIT_SECONDS
  const seconds = Number(retryAfter)
  if (seconds >= 0) return seconds
  const time = Date.parse(retryAfter)
  return Number.isNaN(time) ? WAIT_SECONDS : Math.max(0, Math.ceil((time - Date.now()) / 1_000))
}

function refusal({ status, headers }: Response, text: string): string {
  const message = messageIn(text)
  const said = message === undefined ? `answers ${status}` : `answers ${status}: ${message}`
  const location = headers.get('location')
  if (location !== null) return `leads to ${location}: use that address`
  if (status === 401) return `${said}; set MERIDIAN_KEY to one of its API keys`
  if (status === 404) return `${said}; is it the address of Meridian?`
  return said
}

/** The message of an ApiError. */
function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).error.message
  } catch {
    return undefined
  }
}

/** Returns null unless there is a result for each address. */
function toAnswers(text: string, ips: readonly string[]): Answer[] | null {
  const lines = text.split('\n').filter((line) => line !== '')
  if (lines.length !== ips.length) return null
  try {
    return lines.map((line, at) => toAnswer(ips[at] ?? '', JSON.parse(line)))
  } catch {
    return null
  }
}

function toAnswer(address: string, { meta = {}, ...result }: GeolocationResult): Answer {
  const { degraded, ...own } = meta
  const isDegraded = degraded === true
  return { address, json: asciiJson({ ...result, meta: isDegraded ? meta : own }), isDegraded }
}
