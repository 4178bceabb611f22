import type { Hono } from 'hono'
import type { Env } from '../../../routes/context.ts'
import { type Answer, checkAnswer, isJson } from '../contract-check.ts'

/** What answers requests. */
export interface Routed {
  readonly app: Hono<Env>
}

export interface SendOptions {
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is text or a stream. */
  readonly body?: unknown
  /** Address of the client; default: a new one for each request, since requests are limited. */
  readonly from?: string
}

/** Sends a request to the router, and checks the answer against the contract. */
export async function send(
  { app }: Routed,
  method: string,
  path: string,
  { from = freshClient(), ...options }: SendOptions = {},
): Promise<Answer> {
  const request = toRequest(method, path, options)
  const response = await app.fetch(request, { remoteAddress: from })
  const text = await response.text()
  const { status, headers } = response
  const answer = { status, headers, text, body: readBody(headers, text) }
  checkAnswer(method, new URL(request.url).pathname, answer)
  return answer
}

export function toRequest(
  method: string,
  path: string,
  { key, headers, body }: SendOptions,
): Request {
  return new Request(`http://127.0.0.1:8787${path}`, {
    method,
    headers: { ...(key !== undefined && { 'x-api-key': key }), ...headers },
    ...bodyInit(body),
  })
}

function readBody(headers: Headers, text: string): unknown {
  if (text === '') return undefined
  return isJson(headers) ? JSON.parse(text) : text
}

function bodyInit(body: unknown): RequestInit {
  if (body === undefined) return {}
  if (body instanceof ReadableStream) return { body, duplex: 'half' }
  return { body: typeof body === 'string' ? body : JSON.stringify(body) }
}

let clients = 0

/** Returns a new client address at each call, from the test network 198.18.0.0/15. */
export function freshClient(): string {
  clients += 1
  return `198.${18 + (clients >> 16)}.${(clients >> 8) & 255}.${clients & 255}`
}
