import { AskForReset, ResetPassword } from '../../pages/dashboard/password-reset.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showDoor } from './answer.ts'
import { askAuth } from './ask-auth.ts'
import { readForm } from './form.ts'
import type { AppRoute, GuestVisit } from './visit.ts'

export const passwordResetRoutes: readonly AppRoute<GuestVisit>[] = [
  { method: 'get', path: '/app/forgot', answer: (visit) => showForgot(visit) },
  { method: 'post', path: '/app/forgot', answer: askForReset },
  { method: 'get', path: '/app/reset', answer: (visit) => showReset(visit, readToken(visit)) },
  { method: 'post', path: '/app/reset', answer: reset },
]

function showForgot(visit: GuestVisit, trouble?: string, status = 200): Promise<PageAnswer> {
  const { instance, services } = visit
  const canMail = services.config.smtpUrl !== undefined && services.handleAuth !== null
  const content = AskForReset({ base: instance.base, canMail, trouble })
  return showDoor(visit, { title: 'Forgot the password?', content, status })
}

async function askForReset(visit: GuestVisit): Promise<PageAnswer> {
  const email = (await readForm(visit.c)).text('email')
  const redirectTo = `${visit.services.baseUrl()}/app/reset`
  const wish = { email, redirectTo }
  const { status, message } = await askAuth(visit, '/request-password-reset', wish)
  return status === 200
    ? leadTo(visit, '/app/sign-in?done=asked')
    : showForgot(visit, message, status)
}

/** The link of the mail brings it; an error instead where the link is too old. */
function readToken({ c }: GuestVisit): string | null {
  return c.req.query('token') ?? null
}

function showReset(visit: GuestVisit, token: string | null, trouble?: string, status = 200) {
  const content = ResetPassword({ base: visit.instance.base, token, trouble })
  return showDoor(visit, { title: 'Choose a new password', content, status })
}

async function reset(visit: GuestVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const wish = { token: form.text('token'), newPassword: form.exact('password') }
  const { status, message } = await askAuth({ ...visit, token: null }, '/reset-password', wish)
  if (status !== 200) return showReset(visit, wish.token, message, status)
  return leadTo(visit, '/app/sign-in?done=reset')
}
