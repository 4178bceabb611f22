import { AUTH_FORMS } from '../../lib/contract/account/auth.ts'
import { Account, type AccountProps } from '../../pages/dashboard/account/account.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { redirectTo, showPage } from './request/answer.ts'
import { orNull } from './request/call-api.ts'
import { callAuth } from './request/call-auth.ts'
import { deviceCookie, expiredCookie, sessionCookie } from './request/cookies.ts'
import { readForm } from './request/form.ts'
import { formRoutes } from './request/form-routes.ts'
import { findRefusal, toAuthRefusal } from './request/problem.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

export const accountRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/account', answer: (visit) => showAccount(visit) },
  { method: 'post', path: '/app/account/name', answer: setName },
  { method: 'post', path: '/app/account/password', answer: changePassword },
  { method: 'post', path: '/app/account/verify', answer: sendVerification },
  { method: 'post', path: '/app/account/sign-out-everywhere', answer: signOutEverywhere },
  ...formRoutes('/app/account/sessions', showAccount, {
    '/end': async ({ callApi, c }) => {
      const sessionId = (await readForm(c)).text('session')
      await callApi('endSession', { params: { sessionId } })
      return '/app/account?done=ended'
    },
    '/end-others': async ({ callApi }) => {
      await callApi('endOtherSessions')
      return '/app/account?done=ended-others'
    },
  }),
]

type Shown = Pick<AccountProps, 'error' | 'problem'>

/** The page of the account. Its forms show their errors on it. */
export async function showAccount(
  visit: UserVisit,
  shown: Shown = {},
  status = 200,
): Promise<PageAnswer> {
  const { instance, services, me, c, callApi } = visit
  const { authUrl, smtpUrl } = services.config
  const content = Account({
    base: instance.base,
    me,
    asksCode: (await orNull(callApi('getSecondFactor')))?.isOn ?? false,
    sessions: authUrl === undefined ? await orNull(callApi('listSessions')) : null,
    authUrl: authUrl ?? null,
    canMail: smtpUrl !== undefined,
    done: c.req.query('done'),
    ...shown,
  })
  return showPage(visit, { title: 'Settings', content, status })
}

async function setName(visit: UserVisit): Promise<PageAnswer> {
  const name = (await readForm(visit.c)).text('name')
  const refusal = findRefusal(AUTH_FORMS.name, { name })
  if (refusal !== null) return showAccount(visit, refusal, 400)
  const { status, message } = await callAuth(visit, '/update-user', { name })
  return status === 200
    ? redirectTo(visit, '/app/account?done=name')
    : showAccount(visit, { error: message }, status)
}

/** Also ends all other sessions and forgets all other known browsers: one may be a stranger's. */
async function changePassword(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const body = { currentPassword: form.exact('current'), newPassword: form.exact('password') }
  const refusal = findRefusal(AUTH_FORMS.changePassword, body)
  if (refusal !== null) return showAccount(visit, refusal, 400)
  const answer = await callAuth(visit, '/change-password', { ...body, revokeOtherSessions: true })
  const { status, token } = answer
  if (status !== 200) return showAccount(visit, toAuthRefusal(answer), status)
  const device = await deviceCookie(visit, visit.me.email ?? '')
  const cookies = token === null ? [] : [sessionCookie(visit.services, token), device]
  return redirectTo(visit, '/app/account?done=password', cookies)
}

async function sendVerification(visit: UserVisit): Promise<PageAnswer> {
  const { email } = visit.me
  const { status, message } = await callAuth(visit, '/send-verification-email', { email })
  return status === 200
    ? redirectTo(visit, '/app/account?done=sent')
    : showAccount(visit, { error: message }, status)
}

async function signOutEverywhere(visit: UserVisit): Promise<PageAnswer> {
  const { status, message } = await callAuth(visit, '/revoke-sessions', {})
  if (status !== 200) return showAccount(visit, { error: message }, status)
  return redirectTo(visit, '/app/sign-in?done=everywhere', [expiredCookie(visit.services)])
}
