import type { RotateKeyBody } from '../contract/account/account-schemas.ts'
import type { Db } from '../db/open.ts'
import { SECOND_MS } from '../parts/durations.ts'
import { ApiError } from '../parts/errors.ts'
import { mintKey } from './api-key.ts'
import type { Caller } from './authenticate.ts'
import { keyExpiry } from './key-expiry.ts'
import {
  endOf,
  insertReplacement,
  isExpired,
  type KeyRow,
  listKeys,
  newKey,
  retireKey,
} from './keys.ts'
import { isWithin } from './scopes.ts'

/** Who replaces a key, and when. */
interface RotationCall {
  readonly caller: Pick<Caller, 'scopes' | 'plan'>
  readonly now: number
  readonly body: RotateKeyBody
}

/** The most keys of a user that are replaced and still work, beside those that the plan allows. */
const MAX_REPLACED_KEYS = 100

/** The new key, and the statements that replace the old one by it. Throws if they may not be run. */
export async function toRotation(db: Db, key: KeyRow, call: RotationCall) {
  checkRotation(key, await listKeys(db, key.userId), call)
  const next = replacementOf(key, call)
  const graceEnd = call.now + call.body.gracePeriodSeconds * SECOND_MS
  const endsAt = Math.min(endOf(key) ?? graceEnd, graceEnd)
  const retired = retireKey(db, key, { endsAt, replacedBy: next.key.id })
  const end = new Date(endsAt).toISOString()
  return {
    next,
    detail: `${key.name}: ${key.prefix} to ${next.key.prefix}, the old key ends ${end}`,
    statements: [retired, insertReplacement(db, next.key)] as const,
  }
}

/** Throws if the key cannot be replaced, or could do more than the caller, who would get the new one. */
function checkRotation(key: KeyRow, all: readonly KeyRow[], { caller, now }: RotationCall): void {
  if (!isWithin(key.scopes, caller.scopes)) {
    const message = 'A key can only rotate keys with scopes that it has itself'
    throw new ApiError('INSUFFICIENT_SCOPE', message)
  }
  if (key.replacedBy !== null) throw replacedAlready()
  if (isExpired(key, now)) {
    throw new ApiError('BAD_REQUEST', 'The key has expired: renew it, or create another one')
  }
  const replaced = all.filter((one) => one.replacedBy !== null && !isExpired(one, now))
  if (replaced.length < MAX_REPLACED_KEYS) return
  const message = `${MAX_REPLACED_KEYS} replaced keys still work: revoke one first`
  throw new ApiError('KEY_LIMIT_REACHED', message)
}

function replacementOf(old: KeyRow, { caller, now }: RotationCall) {
  const { userId, name, type, scopes, allowedOrigins, lifetimeDays } = old
  const minted = mintKey(type)
  const access = { type, scopes, allowedOrigins }
  const expiresAt = keyExpiry(caller.plan, now)
  const key = newKey(minted, { userId, name, ...access, lifetimeDays, now, expiresAt })
  return { key, text: minted.text }
}

export function replacedAlready(): ApiError {
  return new ApiError('BAD_REQUEST', 'The key has already been replaced: use the new one')
}
