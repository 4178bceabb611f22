import assert from 'node:assert/strict'
import { freshClient, type TestApp } from './helpers.ts'
import { PASSWORD, signUp } from './sign-in.ts'

const BASE = 'http://127.0.0.1:8787'

export interface PageOptions {
  /** As a browser sends it. */
  readonly cookie?: string
  /** What is sent by POST; undefined: the page is asked for by GET. Several values are several fields. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** Of a redirection, else null. */
  readonly location: string | null
}

/** Asks for a page of the dashboard as a browser does, or sends it a form. */
export async function ask(
  { app }: Pick<TestApp, 'app'>,
  path: string,
  { cookie, form, headers }: PageOptions = {},
): Promise<Page> {
  const request = new Request(`${BASE}${path}`, {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'text/html',
      'sec-fetch-site': 'same-origin',
      ...(cookie !== undefined && { cookie }),
      ...headers,
    },
    ...(form !== undefined && { body: toFields(form) }),
  })
  const response = await app.fetch(request, { remoteAddress: freshClient() })
  const html = await response.text()
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return {
    status: response.status,
    headers: response.headers,
    html,
    location: response.headers.get('location'),
  }
}

function toFields(form: NonNullable<PageOptions['form']>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(form).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  )
}

/** Signs a new user up, then in at the dashboard. Returns the cookie of the session. */
export async function enter(app: Pick<TestApp, 'app'>, email = 'ada@example.com'): Promise<string> {
  await signUp(app, email)
  const page = await ask(app, '/app/sign-in', { form: { email, password: PASSWORD } })
  assert.equal(page.status, 303, page.html)
  return cookieOf(page)
}

/** The cookie that the page sets, as a browser sends it. */
export function cookieOf({ headers }: Pick<Page, 'headers'>): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
