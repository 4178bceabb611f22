import { mintKey } from '../lib/access/api-key.ts'
import type { Caller } from '../lib/access/authenticate.ts'
import { toKeyAccess } from '../lib/access/key-access.ts'
import {
  deleteKey,
  findKey,
  insertKey,
  isExpired,
  type KeyRow,
  keyExpiry,
  listKeys,
  newKey,
  setExpiry,
} from '../lib/access/keys.ts'
import { isWithin } from '../lib/access/scopes.ts'
import { apiEvent, insertAudit } from '../lib/accounts/audit.ts'
import type { ApiKeyCreated, ApiKeyInfo, CreateKeyBody } from '../lib/contract/account-schemas.ts'
import type { Statement } from '../lib/db/unit.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

/** Who changes a key, and when. */
interface By {
  readonly caller: Caller
  readonly now: number
}

type Action = 'create_key' | 'revoke_key' | 'renew_key'

export function keyHandlers({ db, keys, lastUsed }: Services) {
  /** Runs the statement together with its audit row. Returns whether it changed something. */
  const change = (action: Action, key: KeyRow, statement: Statement, { caller, now }: By) => {
    const target = { targetType: 'api_key', targetId: key.id, detail: key.name }
    const event = apiEvent(caller, { action, ...target }, now)
    return keys.change([statement, insertAudit(db, event)])
  }
  const getKey = async ({ userId }: Caller, id: string) => {
    const key = await findKey(db, userId, id)
    if (key === null) throw notFound()
    return key
  }
  return {
    listKeys: async ({ caller, now }) => {
      const rows = await listKeys(db, caller.userId)
      const body = rows.map((key) => toKeyInfo(key, lastUsed.unwritten(key.id), now))
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

/** Makes the key that is asked for, unless it could do more than who asks. */
function makeKey(body: CreateKeyBody, { caller, now }: By) {
  const access = toKeyAccess(body)
  if (!isWithin(access.scopes, caller.scopes)) {
    throw new ApiError('INSUFFICIENT_SCOPE', 'A key creates only keys whose scopes are its own')
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

function toKeyInfo(key: KeyRow, unwrittenUse: number | undefined, now: number): ApiKeyInfo {
  const { id, prefix, name, type, scopes, allowedOrigins, createdAt, expiresAt } = key
  const usedAt = Math.max(key.lastUsedAt ?? 0, unwrittenUse ?? 0)
  return {
    id,
    prefix,
    name,
    type,
    scopes: scopes && [...scopes],
    allowedOrigins: allowedOrigins && [...allowedOrigins],
    isActive: !isExpired(key, now),
    createdAt: isoTime(createdAt),
    lastUsedAt: usedAt === 0 ? null : isoTime(usedAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  }
}

function toKeyCreated(key: KeyRow, rawKey: string): ApiKeyCreated {
  const { id, prefix, name, type, scopes, allowedOrigins } = key
  const created = { rawKey, id, prefix, name, type, scopes: scopes && [...scopes] }
  return allowedOrigins === null ? created : { ...created, allowedOrigins: [...allowedOrigins] }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}

function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Key not found')
}
