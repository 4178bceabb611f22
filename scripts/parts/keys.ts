import * as v from 'valibot'
import { mintKey } from '../../lib/access/api-key.ts'
import { toKeyAccess } from '../../lib/access/key-access.ts'
import { keyExpiry } from '../../lib/access/key-expiry.ts'
import { replacedAlready, toRotation } from '../../lib/access/key-rotation.ts'
import {
  deleteKey,
  endOf,
  insertKey,
  isExpired,
  type KeyRow,
  newKey,
  setEnd,
  toKeyInfo,
  toRenewed,
} from '../../lib/access/keys.ts'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { RotateKeyBody } from '../../lib/contract/account/account-schemas.ts'
import { runInTransaction, type Statement } from '../../lib/db/transaction.ts'
import { listUsedKeys } from '../../lib/usage/last-used.ts'
import { type Accounts, audit, planInEffect } from './accounts.ts'
import { jsonText } from './json-text.ts'
import type { NewKeyOptions } from './key-options.ts'
import { report } from './run.ts'
import { textTable } from './text-table.ts'
import { isoSecond } from './times.ts'
import { userWithPlan } from './user-with-plan.ts'

/** Creates the key, and the user if new. Returns the text of the key. */
export async function createKey(accounts: Accounts, options: NewKeyOptions): Promise<string> {
  const { db, now } = accounts
  const { user } = await userWithPlan(accounts, options)
  const plan = await planInEffect(accounts, user.id)
  const { name, type, scopes, origins } = options
  const minted = mintKey(type)
  const key = newKey(minted, {
    userId: user.id,
    name,
    type,
    ...toKeyAccess({ type, scopes, allowedOrigins: origins }),
    now,
    expiresAt: keyExpiry(plan, now),
  })
  const row = auditKey(accounts, 'create_key', key)
  if (await runInTransaction(db, [insertKey(db, key, plan.maxKeys), row])) {
    const access = key.scopes === null && type === 'secret' ? ', full access' : ''
    report(`Key ${key.prefix}… of ${user.email}, plan ${plan.id}${access}. It is shown only now:`)
    return minted.text
  }
  throw new Error(
    `${user.email} has the ${plan.maxKeys} keys that the plan ${plan.id} allows; set another plan with --plan`,
  )
}

/** The keys of the user as a table, oldest first. */
export async function keyTable(accounts: Accounts, email: string): Promise<string> {
  return textTable(await listOwnedKeys(accounts, email), {
    Prefix: (key) => key.prefix,
    Id: (key) => key.id,
    Type: (key) => key.type,
    State: (key) => (isExpired(key, accounts.now) ? 'expired' : 'active'),
    Created: (key) => isoSecond(key.createdAt),
    'Last used': (key) => (key.lastUsedAt === null ? 'never' : isoSecond(key.lastUsedAt)),
    Expires: (key) => endText(key),
    Scopes: (key) => key.scopes?.join(',') ?? 'all',
    Origins: (key) => key.allowedOrigins?.join(',') ?? '-',
    Name: (key) => key.name,
  })
}

/** When the key ends, or `never`. */
export function endText(key: KeyRow): string {
  const end = endOf(key)
  return end === null ? 'never' : isoSecond(end)
}

/** The same as JSON, as `GET /v1/account/me/keys` answers it. A running server may know of later uses. */
export async function keyJson(accounts: Accounts, email: string): Promise<string> {
  const keys = await listOwnedKeys(accounts, email)
  return jsonText(keys.map((key) => toKeyInfo(key, accounts.now)))
}

/** Revokes the key permanently and returns it. */
export async function revokeKey(accounts: Accounts, email: string, name: string): Promise<KeyRow> {
  const key = await getKey(accounts, email, name)
  return change(accounts, 'revoke_key', key, deleteKey(accounts.db, key))
}

/** Extends the key to the lifetime of a new one. Returns the renewed key. */
export async function renewKey(accounts: Accounts, email: string, name: string): Promise<KeyRow> {
  const { db, now } = accounts
  const key = await getKey(accounts, email, name)
  const expiresAt = keyExpiry(await planInEffect(accounts, key.userId), now)
  const renewed = toRenewed(key, expiresAt, now)
  return change(accounts, 'renew_key', renewed, setEnd(db, renewed))
}

/** Replaces the key, which goes on working for a day. Returns the text of the new one. */
export async function rotateKey(accounts: Accounts, email: string, name: string): Promise<string> {
  const { db, now } = accounts
  const key = await getKey(accounts, email, name)
  const caller = { scopes: null, plan: await planInEffect(accounts, key.userId) }
  const call = { caller, now, body: v.getDefaults(RotateKeyBody) }
  const { next, detail, statements } = await toRotation(db, key, call)
  const event = auditKey(accounts, 'rotate_key', { ...key, name: detail })
  if (!(await runInTransaction(db, [...statements, event]))) throw replacedAlready()
  report(`Key ${next.key.prefix}… of ${email} replaces ${key.prefix}…. It is shown only now:`)
  return next.text
}

async function listOwnedKeys({ db }: Accounts, email: string): Promise<KeyRow[]> {
  const user = await findUserByEmail(db, email)
  if (user === null) throw new Error(`There is no user ${email}`)
  return listUsedKeys(db, user.id)
}

/** Returns the one key of the user whose id or prefix starts with `name`, or throws. */
async function getKey(accounts: Accounts, email: string, name: string): Promise<KeyRow> {
  const keys = await listOwnedKeys(accounts, email)
  const candidates = keys.filter((key) => key.id.startsWith(name) || key.prefix.startsWith(name))
  const [key, another] = candidates
  if (key === undefined) throw new Error(`${email} has no key ${name}`)
  if (another === undefined) return key
  const table = textTable(candidates, {
    Prefix: (candidate) => candidate.prefix,
    Id: (candidate) => candidate.id,
    Name: (candidate) => candidate.name,
  })
  throw new Error(`${candidates.length} keys of ${email} begin with ${name}:\n${table.trimEnd()}`)
}

async function change(
  accounts: Accounts,
  action: 'revoke_key' | 'renew_key',
  key: KeyRow,
  statement: Statement,
): Promise<KeyRow> {
  if (await runInTransaction(accounts.db, [statement, auditKey(accounts, action, key)])) return key
  throw new Error(`The key ${key.prefix} is gone`)
}

function auditKey(
  accounts: Accounts,
  action: 'create_key' | 'revoke_key' | 'renew_key' | 'rotate_key',
  { id, userId, name }: KeyRow,
): Statement {
  const target = { targetType: 'api_key', targetId: id, detail: name }
  return audit(accounts, userId, { action, ...target })
}
