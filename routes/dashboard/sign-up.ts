import { ApiError } from '../../lib/errors.ts'
import { SignUp, type SignUpProps } from '../../pages/dashboard/sign-up.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showDoor } from './answer.ts'
import { askAuth } from './ask-auth.ts'
import { readForm } from './form.ts'
import { sessionCookie } from './session-cookie.ts'
import type { AppRoute, GuestVisit } from './visit.ts'

export const signUpRoutes: readonly AppRoute<GuestVisit>[] = [
  { method: 'get', path: '/app/sign-up', answer: (visit) => showSignUp(visit) },
  { method: 'post', path: '/app/sign-up', answer: signUp },
]

type Shown = Pick<SignUpProps, 'typed' | 'trouble'>

async function showSignUp(visit: GuestVisit, shown: Shown = {}, status = 200) {
  const { allowSignUp, authUrl } = visit.services.config
  if (!allowSignUp || authUrl !== undefined) throw new ApiError('NOT_FOUND', 'No sign-up here')
  const content = SignUp({ base: visit.instance.base, ...shown })
  return showDoor(visit, { title: 'Create an account', content, status })
}

async function signUp(visit: GuestVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const typed = { name: form.text('name'), email: form.text('email') }
  const wish = { ...typed, password: form.exact('password') }
  const { status, message, token } = await askAuth(
    { ...visit, token: null },
    '/sign-up/email',
    wish,
  )
  if (token === null) return showSignUp(visit, { typed, trouble: message }, status)
  return leadTo(visit, '/app', { 'set-cookie': sessionCookie(visit.services, token) })
}
