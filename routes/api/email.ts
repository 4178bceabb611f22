import type { Caller } from '../../lib/access/authenticate.ts'
import { EXISTING } from '../../lib/access/sign-in/auth-mail.ts'
import { callerEvent } from '../../lib/accounts/audit.ts'
import {
  changeEmail,
  confirmEmailChange,
  type EmailChange,
  offerEmailChange,
} from '../../lib/accounts/email-change.ts'
import { findUserByEmail, normaliseEmail } from '../../lib/accounts/users.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { takeOrRefuse } from '../request/limit.ts'
import { getUser, refuseRemote } from './account.ts'
import { confirmOwner, type OwnerParts } from './confirm-owner.ts'

type Parts = OwnerParts & Pick<Services, 'baseUrl' | 'config' | 'limits' | 'now' | 'postMail'>

export function emailHandlers(services: Parts) {
  const { db, postMail, baseUrl } = services
  return {
    changeEmail: async ({ caller, body, now }) => {
      refuseRemote(services, changeThere)
      const user = await getUser(db, caller)
      await confirmOwner(services, { caller, now }, user.email, body)
      const change = toChange(caller, body.email, now)
      if (postMail === null) {
        if ((await changeEmail(db, change)) === 'taken') throw taken()
        return { status: 200, body: { status: 'changed' } }
      }
      // Also if the address has no account, so that nobody learns which it is.
      takeOrRefuse(services, 'verificationMails', change.email)
      const token = await offerEmailChange(db, change)
      if ((await findUserByEmail(db, change.email)) === null) {
        const query = new URLSearchParams({ token, email: change.email })
        postMail(change.email, SUBJECT, offerText(`${baseUrl()}/app/account/email?${query}`))
      } else postMail(change.email, EXISTING.subject, EXISTING.text)
      return { status: 200, body: { status: 'mailed' } }
    },
    confirmEmail: async ({ caller, body, now }) => {
      refuseRemote(services, changeThere)
      const user = await getUser(db, caller)
      const change = toChange(caller, body.email, now)
      const outcome = await confirmEmailChange(db, change, body.token)
      if (outcome === 'taken') throw taken()
      if (outcome === 'unknown-token') {
        throw new ApiError(
          'BAD_REQUEST',
          'This link has expired, was used, or is not for this account',
        )
      }
      postMail?.(user.email, SUBJECT_DONE, doneText(baseUrl()))
      return { status: 200, body: { status: 'changed' } }
    },
  } satisfies Partial<Handlers>
}

function toChange(caller: Caller, email: string, now: number): EmailChange {
  const { userId, sessionId } = caller
  const event = callerEvent(caller, { action: 'change_email' }, now)
  return { userId, email: normaliseEmail(email), sessionId, event }
}

const changeThere = (authUrl: string) =>
  `The auth service keeps e-mail addresses: change it at ${authUrl}`

function taken(): ApiError {
  return new ApiError('BAD_REQUEST', 'email: another account has this address')
}

const SUBJECT = 'Confirm your new e-mail address'
const SUBJECT_DONE = 'Your e-mail address was changed'

function offerText(link: string): string {
  return `To use this address for your account, open this link within an hour, in a browser that is signed in:\n\n${link}\n\nIf you did not ask for this, ignore this message.\n`
}

function doneText(baseUrl: string): string {
  return `Your account at ${baseUrl} has another e-mail address now; this one no longer belongs to it.\n\nIf you did not change it, tell the administrator.\n`
}
