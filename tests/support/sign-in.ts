import assert from 'node:assert/strict'
import * as v from 'valibot'
import { freshClient, type TestApp } from './helpers.ts'

const BASE = 'http://127.0.0.1:8787'

/** Not the same in two runs, so that none can be found by chance in what a test looks through. */
export const PASSWORD = `correct horse ${crypto.randomUUID()}`

export interface AuthOptions {
  /** Address of the client; a new one each time, since attempts of one are limited. */
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

export interface AuthAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Sends a request below /api/auth. */
export async function sendAuth(
  { app }: Pick<TestApp, 'app'>,
  path: string,
  body?: unknown,
  { from = freshClient(), headers, method }: AuthOptions = {},
): Promise<AuthAnswer> {
  const request = new Request(`${BASE}/api/auth${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
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

/** Signs a new user up. Returns the token of the session that begins with it. */
export async function signUp(app: Pick<TestApp, 'app'>, email = 'ada@example.com') {
  const answer = await sendAuth(app, '/sign-up/email', { email, password: PASSWORD, name: 'Ada' })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return v.parse(Token, answer.body).token
}

export async function signIn(app: Pick<TestApp, 'app'>, email = 'ada@example.com') {
  const answer = await sendAuth(app, '/sign-in/email', { email, password: PASSWORD })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return v.parse(Token, answer.body).token
}
