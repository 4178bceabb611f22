import { SignIn, type SignInProps } from '../../pages/dashboard/sign-in.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showDoor } from './answer.ts'
import { askAuth } from './ask-auth.ts'
import { readForm } from './form.ts'
import { endedCookie, sessionCookie } from './session-cookie.ts'
import { toNext } from './sign-in-first.ts'
import type { AppRoute, GuestVisit } from './visit.ts'

export const signInRoutes: readonly AppRoute<GuestVisit>[] = [
  { method: 'get', path: '/app/sign-in', answer: (visit) => showSignIn(visit) },
  { method: 'post', path: '/app/sign-in', answer: signIn },
  { method: 'post', path: '/app/sign-out', answer: signOut },
]

type Shown = Partial<Pick<SignInProps, 'email' | 'trouble' | 'next'>>

function showSignIn(visit: GuestVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { c, instance, services } = visit
  const { allowSignUp, authUrl } = services.config
  const next = toNext(c.req.query('next'))
  const done = c.req.query('done')
  const offers = { signUp: allowSignUp && authUrl === undefined, reset: authUrl === undefined }
  const content = SignIn({ base: instance.base, next, done, offers, ...shown })
  return showDoor(visit, { title: 'Sign in', content, status })
}

async function signIn(visit: GuestVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const [email, next] = [form.text('email'), toNext(form.text('next'))]
  const wish = { email, password: form.exact('password') }
  const { status, token } = await askAuth({ ...visit, token: null }, '/sign-in/email', wish)
  if (token === null) return showSignIn(visit, { email, next, trouble: troubleOf(status) }, status)
  return leadTo(visit, next, { 'set-cookie': sessionCookie(visit.services, token) })
}

/** Whether there is such a user is told to nobody. */
function troubleOf(status: number): string {
  return status === 429
    ? 'Too many attempts. Wait a minute, then try again.'
    : 'The e-mail address or the password is not right.'
}

/** The session ends at once, for everybody who holds its token. */
async function signOut(visit: GuestVisit): Promise<PageAnswer> {
  if (visit.token !== null) await askAuth(visit, '/sign-out', {})
  return leadTo(visit, '/app/sign-in', { 'set-cookie': endedCookie(visit.services) })
}
