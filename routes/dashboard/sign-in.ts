import * as v from 'valibot'
import { ApiError } from '../../lib/errors.ts'
import { GuestFrame } from '../../pages/dashboard/guest-frame.tsx'
import { SignIn } from '../../pages/dashboard/sign-in.tsx'
import type { PageAnswer } from '../page.ts'
import { pageAssets } from '../page-assets.ts'
import { leadTo } from './answer.ts'
import { type Form, readForm } from './form.ts'
import { endedCookie, sessionCookie } from './session-cookie.ts'
import { toNext } from './sign-in-first.ts'
import type { AppRoute, GuestVisit } from './visit.ts'

export const signInRoutes: readonly AppRoute<GuestVisit>[] = [
  { method: 'get', path: '/app/sign-in', answer: showSignIn },
  { method: 'post', path: '/app/sign-in', answer: signIn },
  { method: 'post', path: '/app/sign-out', answer: signOut },
]

interface Refused {
  readonly email: string
  readonly status: number
  readonly trouble: string
}

async function showSignIn(visit: GuestVisit, refused?: Refused): Promise<PageAnswer> {
  const { c, instance } = visit
  const next = toNext(c.req.query('next'))
  const assets = await pageAssets(instance.base, 'app.css')
  const content = SignIn({ base: instance.base, next, ...refused })
  const html = GuestFrame({ instance, assets, title: 'Sign in', children: content })
  return { status: refused?.status ?? 200, html }
}

async function signIn(visit: GuestVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const response = await visit.sendApi('POST', '/api/auth/sign-in/email', {
    body: { email: form.text('email'), password: form.exact('password') },
  })
  const body = await response.json()
  if (!response.ok) return refuse(visit, form, response.status)
  const { token } = v.parse(SignedIn, body)
  const headers = { 'set-cookie': sessionCookie(visit.services, token) }
  return leadTo(visit, toNext(form.text('next')), headers)
}

const SignedIn = v.object({ token: v.string() })

function refuse(visit: GuestVisit, form: Form, status: number): Promise<PageAnswer> {
  if (status >= 500) throw new ApiError('AUTH_UNAVAILABLE', 'Nobody can sign in now')
  const trouble =
    status === 429
      ? 'Too many attempts. Wait a minute, then try again.'
      : 'The e-mail address or the password is not right.'
  return showSignIn(visit, { email: form.text('email'), status, trouble })
}

/** The session ends at once, for everybody who holds its token. */
async function signOut(visit: GuestVisit): Promise<PageAnswer> {
  const { token, services } = visit
  if (token !== null) {
    const headers = { authorization: `Bearer ${token}` }
    await visit.sendApi('POST', '/api/auth/sign-out', { headers, body: {} })
  }
  return leadTo(visit, '/app/sign-in', { 'set-cookie': endedCookie(services) })
}
