import { findResetAddress } from '../../lib/access/sign-in/reset-tokens.ts'
import { AUTH_FORMS } from '../../lib/contract/account/auth.ts'
import { commandText } from '../../lib/parts/clone-or-package.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import {
  ForgotPassword,
  type ForgotPasswordProps,
  NewVerification,
  type NewVerificationProps,
  ResetPassword,
  type ResetPasswordProps,
  SecondStep,
  type SecondStepProps,
  SignIn,
  type SignInProps,
  SignUp,
  type SignUpProps,
} from '../../pages/dashboard/account/guest-forms.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { redirectTo, showGuestPage } from './request/answer.ts'
import { type AuthAnswer, callAuth } from './request/call-auth.ts'
import { deviceCookie, expiredCookie, sessionCookie } from './request/cookies.ts'
import { readForm } from './request/form.ts'
import { findRefusal, toAuthRefusal } from './request/problem.ts'
import { findSecureUrl } from './request/same-site.ts'
import { safeNext } from './request/sign-in-first.ts'
import type { AppRoute, Visit } from './request/visit.ts'

/** Signing in, up and out, and resetting a forgotten password. */
export const guestRoutes: readonly AppRoute<Visit>[] = [
  { method: 'get', path: '/app/sign-in', answer: (visit) => showSignIn(visit) },
  { method: 'post', path: '/app/sign-in', answer: signIn },
  { method: 'post', path: '/app/sign-in/code', answer: signInByCode },
  // Even with a kept page of an earlier session, it must end this one.
  { method: 'post', path: '/app/sign-out', answer: signOut, isRepeatable: true },
  { method: 'get', path: '/app/sign-up', answer: (visit) => showSignUp(visit) },
  { method: 'post', path: '/app/sign-up', answer: signUp },
  { method: 'get', path: '/app/forgot', answer: (visit) => showForgot(visit) },
  { method: 'post', path: '/app/forgot', answer: (visit) => requestLink(visit, RESET) },
  { method: 'get', path: '/app/verify', answer: (visit) => showVerify(visit) },
  { method: 'post', path: '/app/verify', answer: (visit) => requestLink(visit, VERIFICATION) },
  { method: 'get', path: '/app/reset', answer: (visit) => showReset(visit, readToken(visit)) },
  { method: 'post', path: '/app/reset', answer: reset },
]

type SignInShown = Partial<Pick<SignInProps, 'email' | 'error' | 'next' | 'verify' | 'secureUrl'>>

function showSignIn(visit: Visit, shown: SignInShown = {}, status = 200): Promise<PageAnswer> {
  const { c, instance, services } = visit
  const { allowSignUp, authUrl } = services.config
  const next = safeNext(c.req.query('next'))
  const { done, verify } = c.req.query()
  const offers = {
    signUp: allowSignUp && authUrl === undefined,
    reset: authUrl === undefined,
    verification: canMail(visit),
  }
  const content = SignIn({ base: instance.base, next, done, verify, offers, ...shown })
  return showGuestPage(visit, { title: 'Sign in', content, status })
}

async function signIn(visit: Visit): Promise<PageAnswer> {
  const secureUrl = findSecureUrl(visit.services, visit.c)
  if (secureUrl !== null) return showSignIn(visit, { secureUrl }, 403)
  const form = await readForm(visit.c)
  const [email, next] = [form.text('email'), safeNext(form.text('next'))]
  // Set if the user has followed the link in the verification e-mail.
  const verify = form.text('verify') || undefined
  const body = { email, password: form.exact('password'), verificationToken: verify }
  const answer = await callWithoutSession(visit, '/sign-in/email', body)
  const { status, code, message, token, challenge } = answer
  if (token !== null) return startSession(visit, { email, token }, next)
  if (challenge !== null) return showSecondStep(visit, { challenge, next })
  const refused = canMail(visit) ? NOT_SIGNED_IN_OR_VERIFIED : NOT_SIGNED_IN
  const isPlain = status === 429 || code === 'ACCOUNT_DISABLED'
  const error = isPlain ? message : refused
  return showSignIn(visit, { email, next, verify, error }, status)
}

type SecondStepShown = Omit<SecondStepProps, 'base'>

function showSecondStep(visit: Visit, shown: SecondStepShown, status = 200): Promise<PageAnswer> {
  const content = SecondStep({ base: visit.instance.base, ...shown })
  return showGuestPage(visit, { title: 'Enter your code', content, status })
}

async function signInByCode(visit: Visit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const [challenge, next] = [form.text('challenge'), safeNext(form.text('next'))]
  const body = { challenge, code: form.text('code') || form.text('recoveryCode') }
  const answer = await callWithoutSession(visit, '/two-factor/verify', body)
  const { status, message, token, email } = answer
  // Takes the address from the answer: a forged form could make this browser known to any account.
  if (token !== null && email !== null) return startSession(visit, { email, token }, next)
  const field = form.text('recoveryCode') === '' ? 'code' : 'recoveryCode'
  const wrong = { problem: { field, text: WRONG_CODE } }
  const shown = status === 429 ? { error: message } : wrong
  return showSecondStep(visit, { challenge, next, ...shown }, status)
}

const WRONG_CODE =
  'This code is wrong or was used before. If you gave your password more than ten minutes ago, start again.'

/** These do not reveal whether the user exists. */
const NOT_SIGNED_IN = 'Incorrect e-mail address or password.'
const NOT_SIGNED_IN_OR_VERIFIED =
  'Incorrect e-mail address or password, or the address is not verified yet: open the link in our e-mail, or ask for a new one below.'

/** Ends the session at once, on every device that holds its token. */
async function signOut(visit: Visit): Promise<PageAnswer> {
  if (visit.token !== null) {
    const { status, message } = await callAuth(visit, '/sign-out', {})
    // The session goes on, so the browser must keep its cookie.
    if (status === 429) throw new ApiError('RATE_LIMITED', message)
  }
  return redirectTo(visit, '/app/sign-in', [expiredCookie(visit.services)])
}

type SignUpShown = Pick<SignUpProps, 'typed' | 'error' | 'problem'>

async function showSignUp(visit: Visit, shown: SignUpShown = {}, status = 200) {
  const { allowSignUp, authUrl } = visit.services.config
  if (!allowSignUp || authUrl !== undefined) throw new ApiError('NOT_FOUND', 'Sign-up is closed')
  const content = SignUp({ base: visit.instance.base, ...shown })
  return showGuestPage(visit, { title: 'Create an account', content, status })
}

async function signUp(visit: Visit): Promise<PageAnswer> {
  const secureUrl = findSecureUrl(visit.services, visit.c)
  if (secureUrl !== null) return showSignIn(visit, { secureUrl }, 403)
  const form = await readForm(visit.c)
  const typed = { name: form.text('name'), email: form.text('email') }
  const body = { ...typed, password: form.exact('password') }
  const refusal = findRefusal(AUTH_FORMS.signUp, body)
  if (refusal !== null) return showSignUp(visit, { typed, ...refusal }, 400)
  const answer = await callWithoutSession(visit, '/sign-up/email', body)
  const { status, token } = answer
  if (token !== null) return startSession(visit, { ...typed, token }, '/app')
  if (status === 200) return redirectTo(visit, '/app/sign-in?done=signed-up')
  return showSignUp(visit, { typed, ...toAuthRefusal(answer) }, status)
}

/** Also ends the session whose cookie the browser now replaces, if it can: the visitor has signed in in any case. */
async function startSession(
  visit: Visit,
  { email, token }: { readonly email: string; readonly token: string },
  next: `/app${string}`,
): Promise<PageAnswer> {
  const { services } = visit
  if (visit.token !== null && services.handleAuth !== null) {
    await callAuth(visit, '/sign-out', {}).catch((err: unknown) => {
      services.log.warn({ err }, 'cannot end the session that a sign-in replaces')
    })
  }
  const cookies = [sessionCookie(services, token), await deviceCookie(visit, email)]
  return redirectTo(visit, next, cookies)
}

/** Calls better-auth without the visitor's session, if any. */
function callWithoutSession(visit: Visit, path: string, body: Readonly<Record<string, unknown>>) {
  return callAuth({ ...visit, token: null }, path, body)
}

function canMail({ services }: Visit): boolean {
  return services.config.smtpUrl !== undefined && services.handleAuth !== null
}

/** Of a form that asks for a mail with a link. */
type AskedShown = Pick<ForgotPasswordProps & NewVerificationProps, 'email' | 'error' | 'problem'>

function showForgot(visit: Visit, shown: AskedShown = {}, status = 200): Promise<PageAnswer> {
  const content = ForgotPassword({
    base: visit.instance.base,
    linkCommand: commandText('user', '--email ADDRESS --link'),
    canMail: canMail(visit),
    ...shown,
  })
  return showGuestPage(visit, { title: 'Forgot your password?', content, status })
}

const ASKED_TOO_OFTEN =
  'Too many attempts. If you have an e-mail from us, use the newest: its link is valid for one hour. Otherwise try again later.'

async function showVerify(visit: Visit, shown: AskedShown = {}, status = 200) {
  if (!canMail(visit)) throw new ApiError('NOT_FOUND', 'This service does not send e-mail')
  const content = NewVerification({ base: visit.instance.base, ...shown })
  return showGuestPage(visit, { title: 'Verify your e-mail address', content, status })
}

interface LinkRequest {
  readonly path: '/request-password-reset' | '/send-verification-email'
  /** Shows the form again, with what is wrong. */
  readonly show: (visit: Visit, shown: AskedShown, status: number) => Promise<PageAnswer>
  /** What the sign-in page then says. */
  readonly done: 'asked' | 'verification-asked'
}

const RESET: LinkRequest = { path: '/request-password-reset', show: showForgot, done: 'asked' }
const VERIFICATION: LinkRequest = {
  path: '/send-verification-email',
  show: showVerify,
  done: 'verification-asked',
}

/** Answers a form that asks for a mail with a link. Does not reveal whether the address has an account. */
async function requestLink(visit: Visit, { path, show, done }: LinkRequest): Promise<PageAnswer> {
  const email = (await readForm(visit.c)).text('email')
  const refusal = findRefusal(AUTH_FORMS.email, { email })
  if (refusal !== null) return show(visit, { email, ...refusal }, 400)
  const { status, message } = await callWithoutSession(visit, path, { email })
  if (status === 200) return redirectTo(visit, `/app/sign-in?done=${done}`)
  return show(visit, { email, error: status === 429 ? ASKED_TOO_OFTEN : message }, status)
}

/** The token of the link in the e-mail. */
function readToken({ c }: Visit): string | null {
  return c.req.query('token') ?? null
}

type ResetShown = Partial<Pick<ResetPasswordProps, 'error' | 'problem' | 'revokeKeys'>>

async function showReset(
  visit: Visit,
  token: string | null,
  shown: ResetShown = {},
  status = 200,
): Promise<PageAnswer> {
  // The link in the e-mail ticks the box if a stranger may have created keys.
  const revokeKeys = visit.c.req.query('keys') === 'revoke'
  const { db, now } = visit.services
  const email = token === null ? undefined : await findResetAddress(db, token, now())
  const content = ResetPassword({ base: visit.instance.base, token, email, revokeKeys, ...shown })
  return showGuestPage(visit, { title: 'Choose a new password', content, status })
}

async function reset(visit: Visit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const revokeKeys = form.all('revokeKeys').length > 0
  const body = { token: form.text('token'), newPassword: form.exact('password'), revokeKeys }
  const refusal = findRefusal(AUTH_FORMS.newPassword, body)
  if (refusal !== null) return showReset(visit, body.token, { ...refusal, revokeKeys }, 400)
  const answer = await callWithoutSession(visit, '/reset-password', body)
  if (answer.status === 200) return finishReset(visit, answer)
  const token = answer.code === 'INVALID_TOKEN' ? null : body.token
  return showReset(visit, token, { ...toAuthRefusal(answer), revokeKeys }, answer.status)
}

/** The link has proven the owner, so the browser becomes known: strangers can no longer use up its limits. */
async function finishReset(visit: Visit, { email }: AuthAnswer): Promise<PageAnswer> {
  const cookies = email === null ? [] : [await deviceCookie(visit, email)]
  return redirectTo(visit, '/app/sign-in?done=reset', cookies)
}
