import type { ApiKeyInfo } from '../contract/account/account-schemas.ts'
import { and, asc, eq, sql } from '../db/drizzle.ts'
import { insertOwned } from '../db/insert-owned.ts'
import type { Db } from '../db/open.ts'
import { apiKeys } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import type { MintedKey } from './api-key.ts'

export type KeyRow = typeof apiKeys.$inferSelect

/** What the caller chooses for a new key. */
export type NewKey = Omit<KeyRow, keyof MintedKey | 'createdAt' | 'lastUsedAt'> & {
  readonly now: number
}

export function newKey({ id, hash, prefix }: MintedKey, { now, ...key }: NewKey): KeyRow {
  return { ...key, id, hash, prefix, createdAt: now, lastUsedAt: null }
}

/** Adds the key unless its user already has `maxKeys`. */
export function insertKey(db: Db, key: KeyRow, maxKeys: number): Statement {
  return insertOwned(db, apiKeys, key, maxKeys)
}

/** Oldest first. */
export async function listKeys(db: Db, userId: string): Promise<KeyRow[]> {
  return db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.userId, userId))
    .orderBy(asc(apiKeys.createdAt), sql`rowid`)
    .all()
}

export async function findKey(db: Db, userId: string, id: string): Promise<KeyRow | null> {
  return (await db.select().from(apiKeys).where(isOwn(userId, id)).get()) ?? null
}

export function deleteKey(db: Db, { userId, id }: KeyRow): Statement {
  return db.delete(apiKeys).where(isOwn(userId, id))
}

/** Removes all keys of the user. */
export function removeKeys(db: Db, userId: string): Statement {
  return db.delete(apiKeys).where(eq(apiKeys.userId, userId))
}

/** `expiresAt` is in epoch milliseconds; null means never. */
export function setExpiry(db: Db, { userId, id }: KeyRow, expiresAt: number | null): Statement {
  return db.update(apiKeys).set({ expiresAt }).where(isOwn(userId, id))
}

function isOwn(userId: string, id: string) {
  return and(eq(apiKeys.userId, userId), eq(apiKeys.id, id))
}

export function isExpired({ expiresAt }: Pick<KeyRow, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** The key as the API shows it. */
export function toKeyInfo(key: KeyRow, now: number): ApiKeyInfo {
  const { allowedOrigins, createdAt, lastUsedAt, expiresAt } = key
  return {
    ...sharedFields(key),
    allowedOrigins: allowedOrigins && [...allowedOrigins],
    isActive: !isExpired(key, now),
    createdAt: isoTime(createdAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  }
}

/** The fields that a key has from its creation on. */
export function sharedFields({ id, prefix, name, type, scopes }: KeyRow) {
  return { id, prefix, name, type, scopes: scopes && [...scopes] }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}
