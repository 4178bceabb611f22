import type { Caller } from '../../lib/access/authenticate.ts'
import { findPassword } from '../../lib/access/stored-password.ts'
import {
  confirmSecondFactor,
  findSecondFactor,
  offerSecondFactor,
  renewRecoveryCodes,
  turnOffSecondFactor,
} from '../../lib/accounts/second-factor/second-factor.ts'
import { toBase32, toUri } from '../../lib/accounts/second-factor/totp.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { getUser, refuseRemote } from './account.ts'
import { confirmPassword, type OwnerParts, wrongCode } from './confirm-owner.ts'

/** Names the service, so that people can tell several apart in their app. A colon would end the name. */
function issuerOf(baseUrl: string): string {
  return `Meridian (${new URL(baseUrl).hostname.replaceAll(':', '-')})`
}

const NOT_CONFIRMED = {
  'on-already': 'The second factor is on already',
  'nothing-offered': 'There is nothing to confirm: ask for a secret first',
} as const

function notConfirmed(why: keyof typeof NOT_CONFIRMED | 'wrong-code'): ApiError {
  if (why !== 'wrong-code') return new ApiError('BAD_REQUEST', NOT_CONFIRMED[why])
  return fieldError('code', 'is wrong: check the clock of the device with the app')
}

export function secondFactorHandlers(services: OwnerParts & Pick<Services, 'baseUrl' | 'config'>) {
  const { db, secondFactors } = services
  /** Returns the user after checking the password. */
  const getOwner = async (caller: Caller, password: string | undefined) => {
    refuseRemote(services, manageThere)
    const user = await getUser(db, caller)
    await confirmPassword(services, user.email, password)
    return user
  }
  return {
    getSecondFactor: async ({ caller }) => {
      refuseRemote(services, manageThere)
      const found = await findSecondFactor(secondFactors, caller.userId)
      if (found === null) return { status: 200, body: { isOn: false } }
      const { confirmedAt, recoveryCodes } = found
      const since = new Date(confirmedAt).toISOString()
      return { status: 200, body: { isOn: true, since, recoveryCodes } }
    },
    offerSecondFactor: async ({ caller, body: { password } }) => {
      const { email } = await getOwner(caller, password)
      if (((await findPassword(db, email))?.hash ?? null) === null) {
        throw new ApiError('BAD_REQUEST', 'This account has no password: set one first')
      }
      const secret = await offerSecondFactor(secondFactors, caller.userId)
      if (secret === null) throw notConfirmed('on-already')
      const uri = toUri(secret, { issuer: issuerOf(services.baseUrl()), account: email })
      return { status: 200, body: { secret: toBase32(secret), uri } }
    },
    confirmSecondFactor: async ({ caller, body: { code }, now }) => {
      refuseRemote(services, manageThere)
      const confirmed = await confirmSecondFactor(
        secondFactors,
        { actor: caller, code, now },
        caller.sessionId,
      )
      if (typeof confirmed === 'string') throw notConfirmed(confirmed)
      return { status: 200, body: { recoveryCodes: confirmed } }
    },
    renewRecoveryCodes: async ({ caller, body: { password, code }, now }) => {
      await getOwner(caller, password)
      const recoveryCodes = await renewRecoveryCodes(secondFactors, { actor: caller, code, now })
      if (recoveryCodes === null) throw wrongCode()
      return { status: 200, body: { recoveryCodes } }
    },
    removeSecondFactor: async ({ caller, body: { password, code }, now }) => {
      await getOwner(caller, password)
      if (!(await turnOffSecondFactor(secondFactors, { actor: caller, code, now })))
        throw wrongCode()
      return { status: 200, body: { isOn: false } }
    },
  } satisfies Partial<Handlers>
}

const manageThere = (authUrl: string) =>
  `The auth service signs users in: manage the second factor at ${authUrl}`
