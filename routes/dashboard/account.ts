import { Account, type AccountProps } from '../../pages/dashboard/account.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showPage } from './answer.ts'
import { askAuth } from './ask-auth.ts'
import { readForm } from './form.ts'
import { endedCookie, sessionCookie } from './session-cookie.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const accountRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/account', answer: (visit) => showAccount(visit) },
  { method: 'post', path: '/app/account/name', answer: setName },
  { method: 'post', path: '/app/account/password', answer: changePassword },
  { method: 'post', path: '/app/account/verify', answer: sendVerification },
  { method: 'post', path: '/app/account/sign-out-everywhere', answer: signOutEverywhere },
]

type Shown = Pick<AccountProps, 'trouble'>

function showAccount(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { instance, services, me, c } = visit
  const { authUrl, smtpUrl } = services.config
  const content = Account({
    base: instance.base,
    me,
    authUrl: authUrl ?? null,
    canMail: smtpUrl !== undefined,
    done: c.req.query('done'),
    ...shown,
  })
  return showPage(visit, { title: 'Account', content, status })
}

async function setName(visit: UserVisit): Promise<PageAnswer> {
  const name = (await readForm(visit.c)).text('name')
  const { status, message } = await askAuth(visit, '/update-user', { name })
  return status === 200
    ? leadTo(visit, '/app/account?done=name')
    : showAccount(visit, { trouble: message }, status)
}

/** Whoever else is signed in as this user is signed out: the password may be changed for that. */
async function changePassword(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const { status, message, token } = await askAuth(visit, '/change-password', {
    currentPassword: form.exact('current'),
    newPassword: form.exact('password'),
    revokeOtherSessions: true,
  })
  if (status !== 200) return showAccount(visit, { trouble: message }, status)
  const headers = token === null ? {} : { 'set-cookie': sessionCookie(visit.services, token) }
  return leadTo(visit, '/app/account?done=password', headers)
}

async function sendVerification(visit: UserVisit): Promise<PageAnswer> {
  const { me, services } = visit
  const callbackURL = `${services.baseUrl()}/app/account?done=verified`
  const wish = { email: me.email, callbackURL }
  const { status, message } = await askAuth(visit, '/send-verification-email', wish)
  return status === 200
    ? leadTo(visit, '/app/account?done=sent')
    : showAccount(visit, { trouble: message }, status)
}

async function signOutEverywhere(visit: UserVisit): Promise<PageAnswer> {
  const { status, message } = await askAuth(visit, '/revoke-sessions', {})
  if (status !== 200) return showAccount(visit, { trouble: message }, status)
  const headers = { 'set-cookie': endedCookie(visit.services) }
  return leadTo(visit, '/app/sign-in?done=everywhere', headers)
}
