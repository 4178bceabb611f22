import assert from 'node:assert/strict'
import { findUserByEmail } from '../../../lib/accounts/users.ts'
import type { Services } from '../../../lib/services/services.ts'
import { PASSWORD } from '../sign-in.ts'
import { freshClient, type Routed } from './send.ts'

const BASE = 'http://127.0.0.1:8787'

export interface PageOptions {
  /** The Cookie header. */
  readonly cookie?: string
  /** Fields to POST; GET if undefined. An array becomes several fields with one name. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>
  readonly headers?: Readonly<Record<string, string>>
  /** Aborted when the visitor leaves. */
  readonly signal?: AbortSignal
  /** Address of the visitor; default: a new one for each page. */
  readonly from?: string
}

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The target of a redirect, else null. */
  readonly location: string | null
}

/** The Cookie header of a browser that had this one when it got the page. */
export function withCookiesOf({ headers }: Page, cookie: string): string {
  const set = headers.getSetCookie().flatMap((text) => text.split(';', 1))
  const byName = new Map(
    [...cookie.split('; '), ...set].map((text) => [text.split('=', 1)[0], text]),
  )
  return [...byName.values()].join('; ')
}

/** Requests a page of the dashboard, or submits a form to it, as a browser does. */
export async function visitPage(
  { app }: Routed,
  path: string,
  { cookie, form, headers, signal, from = freshClient() }: PageOptions = {},
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
    ...(signal !== undefined && { signal }),
  })
  const response = await app.fetch(request, { remoteAddress: from })
  const { status, headers: answered } = response
  const html = await response.text()
  assert.equal(answered.get('cache-control'), 'no-store')
  return { status, headers: answered, html, location: answered.get('location') }
}

function toFields(form: NonNullable<PageOptions['form']>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(form).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  )
}

/** Lets the user's pages make only so many more API calls now. */
export async function leaveCalls(
  { services }: { readonly services: Services },
  calls: number,
): Promise<void> {
  const { limits, db, now } = services
  const user = (await findUserByEmail(db, 'ada@example.com')) ?? assert.fail()
  while (limits.dashboard.take(user.id, now()).allowed);
  for (let left = 0; left < calls; left++) limits.dashboard.refund(user.id)
}

/** Signs up a new user at the dashboard. Returns the cookie of the session that begins with it. */
export async function signInNewUser(app: Routed, email = 'ada@example.com'): Promise<string> {
  const form = { name: 'Ada', email, password: PASSWORD }
  const page = await visitPage(app, '/app/sign-up', { form })
  assert.equal(page.status, 303, page.html)
  return cookieOf(page)
}

/** The Cookie header for the cookie that the page sets. */
export function cookieOf({ headers }: Pick<Page, 'headers'>): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
