import {
  deleteKey,
  isExpired,
  type KeyRow,
  keyExpiry,
  listKeys,
  setExpiry,
} from '../lib/access/keys.ts'
import { findUserByEmail, type UserRow } from '../lib/accounts/users.ts'
import { type Statement, unit } from '../lib/db/unit.ts'
import { type Accounts, audit } from './accounts.ts'
import { planInEffect } from './plan-in-effect.ts'
import { type Column, textTable } from './text-table.ts'
import { isoSecond } from './times.ts'

const COLUMNS: readonly Column[] = [
  'Prefix',
  'Id',
  'Type',
  'State',
  'Created',
  'Last used',
  'Expires',
  'Scopes',
  'Origins',
  'Name',
].map((title) => ({ title, align: 'left' }))

/** The keys of the user as a table, oldest first. */
export async function keyTable(accounts: Accounts, email: string): Promise<string> {
  const user = await getUser(accounts, email)
  const keys = await listKeys(accounts.db, user.id)
  const cells = keys.map((key) => [
    key.prefix,
    key.id,
    key.type,
    isExpired(key, accounts.now) ? 'expired' : 'active',
    isoSecond(key.createdAt),
    key.lastUsedAt === null ? 'never' : isoSecond(key.lastUsedAt),
    key.expiresAt === null ? 'never' : isoSecond(key.expiresAt),
    key.scopes?.join(',') ?? 'all',
    key.allowedOrigins?.join(',') ?? '-',
    key.name,
  ])
  return textTable(COLUMNS, cells)
}

/** Ends the key for good. Returns what it was. */
export async function revokeKey(accounts: Accounts, email: string, name: string): Promise<KeyRow> {
  const user = await getUser(accounts, email)
  const key = await getKey(accounts, user, name)
  return change(accounts, 'revoke_key', key, deleteKey(accounts.db, key))
}

/** Lets the key live as long as a new one. Returns it as it is then. */
export async function renewKey(accounts: Accounts, email: string, name: string): Promise<KeyRow> {
  const { db, now } = accounts
  const user = await getUser(accounts, email)
  const key = await getKey(accounts, user, name)
  const expiresAt = keyExpiry(await planInEffect(accounts, user.id), now)
  const renewed = { ...key, expiresAt }
  return change(accounts, 'renew_key', renewed, setExpiry(db, key, expiresAt))
}

async function getUser({ db }: Accounts, email: string): Promise<UserRow> {
  const user = await findUserByEmail(db, email)
  if (user === null) throw new Error(`There is no user ${email}`)
  return user
}

/** Returns the one key of the user whose id or prefix begins with `name`. */
async function getKey({ db }: Accounts, { id, email }: UserRow, name: string): Promise<KeyRow> {
  const keys = await listKeys(db, id)
  const candidates = keys.filter((key) => key.id.startsWith(name) || key.prefix.startsWith(name))
  const [key, another] = candidates
  if (key === undefined) throw new Error(`${email} has no key ${name}`)
  if (another === undefined) return key
  const lines = candidates.map(({ prefix, id: keyId, name: keyName }) => [prefix, keyId, keyName])
  const columns = COLUMNS.filter(({ title }) => ['Prefix', 'Id', 'Name'].includes(title))
  throw new Error(
    `${candidates.length} keys of ${email} begin with ${name}:\n${textTable(columns, lines).trimEnd()}`,
  )
}

async function change(
  accounts: Accounts,
  action: 'revoke_key' | 'renew_key',
  key: KeyRow,
  statement: Statement,
): Promise<KeyRow> {
  const target = { targetType: 'api_key', targetId: key.id, detail: key.name }
  const row = audit(accounts, key.userId, { action, ...target })
  if (await unit(accounts.db, [statement, row])) return key
  throw new Error(`The key ${key.prefix} is gone`)
}
