import type { Caller } from '../../lib/access/authenticate.ts'
import { callerEvent } from '../../lib/accounts/audit.ts'
import {
  changeEmail,
  confirmEmailChange,
  type EmailChange,
  offerEmailChange,
} from '../../lib/accounts/email-change.ts'
import { normaliseEmail } from '../../lib/parts/email-address.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { takeOrRefuse } from '../request/limit.ts'
import { getUser, refuseRemote } from './account.ts'
import { confirmOwner, type OwnerParts } from './confirm-owner.ts'

type Parts = OwnerParts & Pick<Services, 'config' | 'limits' | 'mails' | 'now'>

export function emailHandlers(services: Parts) {
  const { db, mails } = services
  return {
    changeEmail: async ({ caller, body, now }) => {
      refuseRemote(services, changeThere)
      const user = await getUser(db, caller)
      await confirmOwner(services, { caller, now }, user.email, body)
      const change = toChange(caller, body.email, now)
      if (!mails.isOn) {
        if ((await changeEmail(db, change)) === 'taken') throw taken()
        return { status: 200, body: { status: 'changed' } }
      }
      // Also if the address has no account, so that nobody learns which it is.
      takeOrRefuse(services, 'verificationMails', change.email)
      const { token, statement } = offerEmailChange(db, change)
      const to = { id: caller.userId, email: change.email }
      const query = { token, email: change.email }
      await mails.postLink({ user: to, kind: 'change_email', query }, [statement])
      return { status: 200, body: { status: 'mailed' } }
    },
    confirmEmail: async ({ caller, body, now }) => {
      refuseRemote(services, changeThere)
      const change = toChange(caller, body.email, now)
      const notices = mails.notify(caller.userId, 'email_changed', now)
      const outcome = await confirmEmailChange(db, change, { token: body.token, notices })
      if (outcome === 'taken') throw taken()
      if (outcome === 'unknown-token') {
        throw new ApiError(
          'BAD_REQUEST',
          'This link has expired, was used, or is not for this account',
        )
      }
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
  return fieldError('email', 'another account has this address')
}
