import assert from 'node:assert/strict'
import * as v from 'valibot'
import type { MailServer } from './mail-server.ts'
import { freshClient, type Routed, send } from './scene/send.ts'

const BASE = 'http://127.0.0.1:8787'

/** Random in each run, so that a search for leaked passwords finds no accidental match. */
export const PASSWORD = `correct horse ${crypto.randomUUID()}`

export interface AuthOptions {
  /** Address of the client; default: a new one for each request, since attempts are limited. */
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  /** Aborted when the client leaves. */
  readonly signal?: AbortSignal
}

export interface AuthAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Sends a request below /api/auth. */
export async function sendAuth(
  { app }: Routed,
  path: string,
  body?: unknown,
  { from = freshClient(), headers, method, signal }: AuthOptions = {},
): Promise<AuthAnswer> {
  const request = new Request(`${BASE}/api/auth${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
  const response = await app.fetch(request, { remoteAddress: from })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

const Token = v.object({ token: v.string() })

/** Signs a new user up, where no mail is sent. Returns the token of the session. */
export async function signUp(app: Routed, email = 'ada@example.com') {
  const answer = await sendAuth(app, '/sign-up/email', { email, password: PASSWORD, name: 'Ada' })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return v.parse(Token, answer.body).token
}

/** Signs a new user up, and in by the link in the mail. Returns the token of the session. */
export async function signUpByMail(app: Routed, mail: MailServer, email = 'ada@example.com') {
  await sendAuth(app, '/sign-up/email', { email, password: PASSWORD, name: 'Ada' })
  const verificationToken = (await nextLink(mail)).searchParams.get('verify')
  return signIn(app, email, { verificationToken })
}

/** `more`: further fields of the body. */
export async function signIn(app: Routed, email = 'ada@example.com', more: object = {}) {
  const answer = await sendAuth(app, '/sign-in/email', { email, password: PASSWORD, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return v.parse(Token, answer.body).token
}

/** The link in the next mail that has one: notices have none on a line of its own. */
export async function nextLink(mail: MailServer): Promise<URL> {
  for (;;) {
    const link = /^https?:\S+$/m.exec((await mail.next()).text)?.[0]
    if (link !== undefined) return new URL(link)
  }
}

/** Asks for a reset. Returns the token in the mail. */
export async function askForReset(app: Routed, mail: MailServer, email = 'ada@example.com') {
  await sendAuth(app, '/request-password-reset', { email })
  return (await nextLink(mail)).searchParams.get('token') ?? ''
}

/** Looks an address up with the session. Returns the status. */
export async function lookUpWith(app: Routed, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await send(app, 'GET', '/v1/ip/81.2.69.160', { headers })).status
}
