import assert from 'node:assert/strict'
import * as v from 'valibot'
import { codeAt } from '../../support/authenticator.ts'
import type { TestApp } from '../../support/helpers.ts'
import { PASSWORD, sendAuth, signIn, signUp } from '../../support/sign-in.ts'

export const PATH = '/v1/account/me/second-factor'

/** Calls an operation of the second factor with a session. */
export function callWith(app: Pick<TestApp, 'send'>, token: string) {
  const headers = { authorization: `Bearer ${token}` }
  return (path: string, body?: unknown) =>
    app.send(body === undefined ? 'GET' : 'POST', `${PATH}${path}`, { headers, body })
}

const Offer = v.object({ secret: v.string() })
export const Codes = v.object({ recoveryCodes: v.array(v.string()) })

/**
 * Signs a new user up, and turns the second factor on. Each code is valid only once, and the next one comes
 * half a minute later. `other`: a session that began before.
 */
export async function signUpWithFactor(
  app: Pick<TestApp, 'app' | 'send' | 'services'>,
  email = 'ada@example.com',
) {
  const token = await signUp(app, email)
  const other = await signIn(app, email)
  const call = callWith(app, token)
  const offered = await call('', { password: PASSWORD })
  const { secret } = v.parse(Offer, offered.body)
  const code = () => codeAt(secret, app.services.now())
  const confirmed = await call('/confirm', { code: await code() })
  assert.equal(confirmed.status, 200, confirmed.text)
  return { token, other, call, code, secret, ...v.parse(Codes, confirmed.body) }
}

const Challenged = v.strictObject({ twoFactorRedirect: v.literal(true), challenge: v.string() })

/** Gives the password. Returns the challenge. */
export async function beginSignIn(app: Pick<TestApp, 'app'>, email = 'ada@example.com') {
  const answer = await sendAuth(app, '/sign-in/email', { email, password: PASSWORD })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return v.parse(Challenged, answer.body).challenge
}
