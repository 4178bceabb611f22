import { mintKey } from '../../lib/access/api-key.ts'
import type { Caller } from '../../lib/access/authenticate.ts'
import { toKeyAccess } from '../../lib/access/key-access.ts'
import { alignKeyExpiry, keyExpiry } from '../../lib/access/key-expiry.ts'
import { replacedAlready, toRotation } from '../../lib/access/key-rotation.ts'
import {
  deleteKey,
  findKey,
  insertKey,
  type KeyRow,
  newKey,
  removeRetiredKeys,
  setEnd,
  sharedFields,
  toKeyInfo,
  toRenewed,
} from '../../lib/access/keys.ts'
import { isWithin } from '../../lib/access/scopes.ts'
import { callerEvent, insertAudit } from '../../lib/accounts/audit.ts'
import type {
  ApiKeyCreated,
  CreateKeyBody,
  CreateKeyQuery,
} from '../../lib/contract/account/account-schemas.ts'
import type { Statement } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import { listKeysWithLastUse } from '../../lib/usage/last-used.ts'
import type { Handlers } from '../context.ts'

type Action = 'create_key' | 'revoke_key' | 'renew_key' | 'rotate_key'

interface KeyCall {
  readonly caller: Caller
  readonly now: number
}

/** What happens to a key. The first statement decides. */
interface Change {
  readonly action: Action
  readonly key: KeyRow
  /** For the audit log; default: the name of the key. */
  readonly detail?: string
  readonly statements: readonly [Statement, ...Statement[]]
}

type Parts = Pick<Services, 'db' | 'keys' | 'ledger' | 'plans' | 'requestCounts'>

export function keyHandlers(services: Parts) {
  const { db, plans, keys } = services
  /**
   * Runs the statements with their audit row. Returns whether the first changed a row. Also aligns the
   * expiry with the plan, which may have changed since the request was admitted, and tidies up.
   */
  const change = ({ action, key, detail = key.name, statements }: Change, call: KeyCall) => {
    const { caller, now } = call
    const target = { targetType: 'api_key', targetId: key.id, detail }
    const event = insertAudit(db, callerEvent(caller, { action, ...target }, now))
    const alignment = alignKeyExpiry(db, plans, now, key.userId)
    return keys.change([...statements, event, alignment, removeRetiredKeys(db, key.userId, now)])
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
      const { key, text } = makeKey(call.body, call.query, call)
      const { plan } = call.caller
      const statements = [insertKey(db, key, plan.maxKeys)] as const
      const added = await change({ action: 'create_key', key, statements }, call)
      if (added) return { status: 201, body: toKeyCreated(key, text) }
      throw new ApiError('KEY_LIMIT_REACHED', `The plan ${plan.id} allows ${plan.maxKeys} keys`)
    },
    revokeKey: async (call) => {
      const key = await getKey(call.caller, call.params.keyId)
      const statements = [deleteKey(db, key)] as const
      if (!(await change({ action: 'revoke_key', key, statements }, call))) throw notFound()
      return { status: 200, body: { deleted: true } }
    },
    renewKey: async (call) => {
      const key = await getKey(call.caller, call.params.keyId)
      if (key.replacedBy !== null) throw replacedAlready()
      const expiresAt = keyExpiry(call.caller.plan, call.now)
      const statements = [setEnd(db, toRenewed(key, expiresAt, call.now))] as const
      if (!(await change({ action: 'renew_key', key, statements }, call))) throw notFound()
      return { status: 200, body: { status: 'renewed' } }
    },
    rotateKey: async (call) => {
      const key = await getKey(call.caller, call.params.keyId)
      const { next, ...rotation } = await toRotation(db, key, call)
      if (await change({ action: 'rotate_key', key, ...rotation }, call)) {
        return { status: 201, body: toKeyCreated(next.key, next.text) }
      }
      // Another request was faster.
      await getKey(call.caller, call.params.keyId)
      throw replacedAlready()
    },
  } satisfies Partial<Handlers>
}

/** Throws if the new key could do more than the caller. */
function makeKey(body: CreateKeyBody, query: CreateKeyQuery, { caller, now }: KeyCall) {
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
    lifetimeDays: query.expiresInDays === undefined ? null : Number(query.expiresInDays),
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
