import type { Scope } from '../contract/operation.ts'
import { and, asc, eq, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { apiKeys, users } from '../db/tables.ts'
import type { Statement } from '../db/unit.ts'
import type { KeyType, MintedKey } from './api-key.ts'

export type KeyRow = typeof apiKeys.$inferSelect

export interface NewKey {
  readonly userId: string
  readonly name: string
  readonly type: KeyType
  readonly scopes: readonly Scope[] | null
  readonly allowedOrigins: readonly string[] | null
  readonly now: number
  /** Epoch milliseconds; null: never. */
  readonly expiresAt: number | null
}

export function newKey(minted: MintedKey, key: NewKey): KeyRow {
  return {
    id: minted.id,
    userId: key.userId,
    hash: minted.hash,
    prefix: minted.prefix,
    name: key.name,
    type: key.type,
    scopes: key.scopes,
    allowedOrigins: key.allowedOrigins,
    createdAt: key.now,
    lastUsedAt: null,
    expiresAt: key.expiresAt,
  }
}

/**
 * Adds the key unless its user has `maxKeys` of them. One statement, so that the limit is exact
 * however many run at once.
 */
export function insertKey(db: Db, key: KeyRow, maxKeys: number): Statement {
  const owned = db.$count(apiKeys, eq(apiKeys.userId, key.userId))
  return db.insert(apiKeys).select(
    db
      .select({
        id: sql<string>`${key.id}`.as('id'),
        userId: users.id,
        hash: sql<string>`${key.hash}`.as('hash'),
        prefix: sql<string>`${key.prefix}`.as('prefix'),
        name: sql<string>`${key.name}`.as('name'),
        type: sql<KeyType>`${key.type}`.as('type'),
        scopes: sql`${jsonOrNull(key.scopes)}`.as('scopes'),
        allowedOrigins: sql`${jsonOrNull(key.allowedOrigins)}`.as('allowed_origins'),
        createdAt: sql<number>`${key.createdAt}`.as('created_at'),
        lastUsedAt: sql`${key.lastUsedAt}`.as('last_used_at'),
        expiresAt: sql`${key.expiresAt}`.as('expires_at'),
      })
      .from(users)
      .where(and(eq(users.id, key.userId), sql`${owned} < ${maxKeys}`)),
  )
}

function jsonOrNull(value: readonly string[] | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

/** The keys of the user, oldest first. */
export async function listKeys(db: Db, userId: string): Promise<KeyRow[]> {
  return db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.userId, userId))
    .orderBy(asc(apiKeys.createdAt), sql`rowid`)
    .all()
}

export async function findKey(db: Db, userId: string, id: string): Promise<KeyRow | null> {
  return db.select().from(apiKeys).where(isOwn(userId, id)).get() ?? null
}

export function deleteKey(db: Db, { userId, id }: KeyRow): Statement {
  return db.delete(apiKeys).where(isOwn(userId, id))
}

/** All keys of the user. */
export function removeKeys(db: Db, userId: string): Statement {
  return db.delete(apiKeys).where(eq(apiKeys.userId, userId))
}

/** `expiresAt` is epoch milliseconds; null: never. */
export function setExpiry(db: Db, { userId, id }: KeyRow, expiresAt: number | null): Statement {
  return db.update(apiKeys).set({ expiresAt }).where(isOwn(userId, id))
}

function isOwn(userId: string, id: string) {
  return and(eq(apiKeys.userId, userId), eq(apiKeys.id, id))
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000

/** Keys of the free plan live a year from creation or renewal; those of paid plans do not end. */
export function keyExpiry(plan: { readonly price: number }, now: number): number | null {
  return plan.price === 0 ? now + YEAR_MS : null
}

export function isExpired({ expiresAt }: Pick<KeyRow, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}
