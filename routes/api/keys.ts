import { mintKey } from '../../lib/access/api-key.ts'
import type { Caller } from '../../lib/access/authenticate.ts'
import { toKeyAccess } from '../../lib/access/key-access.ts'
import { alignKeyExpiry, keyExpiry } from '../../lib/access/key-expiry.ts'
import {
  deleteKey,
  findKey,
  insertKey,
  type KeyRow,
  newKey,
  setExpiry,
  sharedFields,
  toKeyInfo,
} from '../../lib/access/keys.ts'
import { listKeysWithLastUse } from '../../lib/access/last-used.ts'
import { isWithin } from '../../lib/access/scopes.ts'
import { callerEvent, insertAudit } from '../../lib/accounts/audit.ts'
import type { ApiKeyCreated, CreateKeyBody } from '../../lib/contract/account/account-schemas.ts'
import type { Statement } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

/** The caller that changes a key, and the time. */
interface KeyCall {
  readonly caller: Caller
  readonly now: number
}

type Action = 'create_key' | 'revoke_key' | 'renew_key'

type Parts = Pick<Services, 'db' | 'keys' | 'lastUsed' | 'ledger' | 'plans'>

export function keyHandlers(services: Parts) {
  const { db, plans, keys } = services
  /**
   * Runs the statement with its audit row. Returns whether it changed a row. Also aligns the expiry
   * with the plan, which may have changed since the request was admitted.
   */
  const change = (action: Action, key: KeyRow, statement: Statement, { caller, now }: KeyCall) => {
    const target = { targetType: 'api_key', targetId: key.id, detail: key.name }
    const event = callerEvent(caller, { action, ...target }, now)
    const alignment = alignKeyExpiry(db, plans, now, key.userId)
    return keys.change([statement, insertAudit(db, event), alignment])
  }
  const getKey = async ({ userId }: Caller, id: string) => {
    const key = await findKey(db, userId, id)
    if (key === null) throw notFound()
    return key
  }
  return {
    listKeys: async ({ caller, now }) => {
      const rows = await listKeysWithLastUse(services, caller.userId)
      const body = rows.map((key) => toKeyInfo(key, now))
      return { status: 200, body }
    },
    createKey: async (call) => {
      const { key, text } = makeKey(call.body, call)
      const { plan } = call.caller
      const added = await change('create_key', key, insertKey(db, key, plan.maxKeys), call)
      if (added) return { status: 201, body: toKeyCreated(key, text) }
      throw new ApiError('KEY_LIMIT_REACHED', `The plan ${plan.id} allows ${plan.maxKeys} keys`)
    },
    revokeKey: async (call) => {
      const key = await getKey(call.caller, call.params.keyId)
      if (!(await change('revoke_key', key, deleteKey(db, key), call))) throw notFound()
      return { status: 200, body: { deleted: true } }
    },
    renewKey: async (call) => {
      const key = await getKey(call.caller, call.params.keyId)
      const expiresAt = keyExpiry(call.caller.plan, call.now)
      if (!(await change('renew_key', key, setExpiry(db, key, expiresAt), call))) throw notFound()
      return { status: 200, body: { status: 'renewed' } }
    },
  } satisfies Partial<Handlers>
}

/** Throws if the new key could do more than the caller. */
function makeKey(body: CreateKeyBody, { caller, now }: KeyCall) {
  const access = toKeyAccess(body)
  if (!isWithin(access.scopes, caller.scopes)) {
    const message = 'A key can only create keys with scopes that it has itself'
    throw new ApiError('INSUFFICIENT_SCOPE', message)
  }
  const minted = mintKey(body.type)
  const key = newKey(minted, {
    userId: caller.userId,
    name: body.name.trim().toWellFormed(),
    type: body.type,
    ...access,
    now,
    expiresAt: keyExpiry(caller.plan, now),
  })
  return { key, text: minted.text }
}

function toKeyCreated(key: KeyRow, rawKey: string): ApiKeyCreated {
  const { allowedOrigins } = key
  const created = { rawKey, ...sharedFields(key) }
  return allowedOrigins === null ? created : { ...created, allowedOrigins: [...allowedOrigins] }
}

function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Key not found; it may have been revoked already')
}
