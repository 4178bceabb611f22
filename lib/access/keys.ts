import type { ApiKeyInfo } from '../contract/account/account-schemas.ts'
import { and, asc, eq, isNotNull, isNull, lte, sql } from '../db/drizzle.ts'
import { insertOwned } from '../db/insert-owned.ts'
import type { Db } from '../db/open.ts'
import { ALL_ROWS, type Part } from '../db/part.ts'
import { apiKeys } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'
import type { MintedKey } from './api-key.ts'

export type KeyRow = typeof apiKeys.$inferSelect

/** What the caller chooses for a new key. */
export type NewKey = Omit<KeyRow, keyof MintedKey | KeyLife> & {
  readonly now: number
  /** Default: as long as the plan lets it. */
  readonly lifetimeDays?: number | null | undefined
}
type KeyLife = 'createdAt' | 'lastUsedAt' | 'endsAt' | 'lifetimeDays' | 'replacedBy'

export function newKey(minted: MintedKey, { now, lifetimeDays = null, ...key }: NewKey): KeyRow {
  const { id, hash, prefix } = minted
  const life = { createdAt: now, lastUsedAt: null, ...chosenLife(lifetimeDays, now) }
  return { ...key, id, hash, prefix, ...life, replacedBy: null }
}

function chosenLife(lifetimeDays: number | null, now: number) {
  return { lifetimeDays, endsAt: lifetimeDays === null ? null : now + lifetimeDays * DAY_MS }
}

/** Adds the key unless its user already has `maxKeys`. Replaced keys do not count. */
export function insertKey(db: Db, key: KeyRow, maxKeys: number): Statement {
  return insertOwned(db, apiKeys, key, { max: maxKeys, counted: isNull(apiKeys.replacedBy) })
}

/** Adds the key that replaces another one, which the plan's number of keys therefore allows. */
export function insertReplacement(db: Db, key: KeyRow): Statement {
  return db.insert(apiKeys).values(key)
}

/** Ends the key at `endsAt`, for the replacement. Changes no row if the key is gone or replaced already. */
export function retireKey(db: Db, { userId, id }: KeyRow, by: RetiredBy): Statement {
  return db
    .update(apiKeys)
    .set(by)
    .where(and(isOwn(userId, id), isNull(apiKeys.replacedBy)))
}

type RetiredBy = Pick<KeyRow, 'endsAt' | 'replacedBy'>

/** The ids of the user's keys that others replace. */
export async function listReplacedIds(db: Db, userId: string): Promise<string[]> {
  const isReplaced = and(eq(apiKeys.userId, userId), isNotNull(apiKeys.replacedBy))
  const rows = await db.select({ id: apiKeys.id }).from(apiKeys).where(isReplaced).all()
  return rows.map(({ id }) => id)
}

/** Removes the replaced keys of the user that no longer work. */
export function removeRetiredKeys(db: Db, userId: string, now: number): Statement {
  const isOver = and(isNotNull(apiKeys.replacedBy), lte(apiKeys.endsAt, now))
  return db.delete(apiKeys).where(and(eq(apiKeys.userId, userId), isOver))
}

/** Oldest first. */
export async function listKeys(
  db: Db,
  userId: string,
  { offset, limit }: Part = ALL_ROWS,
): Promise<KeyRow[]> {
  return db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.userId, userId))
    .orderBy(asc(apiKeys.createdAt), sql`rowid`)
    .limit(limit)
    .offset(offset)
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

/** The key with a life that begins anew. `expiresAt` is in epoch milliseconds; null means never. */
export function toRenewed(key: KeyRow, expiresAt: number | null, now: number): KeyRow {
  return { ...key, expiresAt, ...chosenLife(key.lifetimeDays, now) }
}

/** Stores when the renewed key ends. Changes no row if it is gone or replaced. */
export function setEnd(db: Db, { userId, id, expiresAt, endsAt }: KeyRow): Statement {
  return db
    .update(apiKeys)
    .set({ expiresAt, endsAt })
    .where(and(isOwn(userId, id), isNull(apiKeys.replacedBy)))
}

function isOwn(userId: string, id: string) {
  return and(eq(apiKeys.userId, userId), eq(apiKeys.id, id))
}

/** When the key stops working: at whichever of both comes first; null: never. */
export function endOf({ expiresAt, endsAt }: Pick<KeyRow, 'expiresAt' | 'endsAt'>): number | null {
  if (expiresAt === null || endsAt === null) return expiresAt ?? endsAt
  return Math.min(expiresAt, endsAt)
}

export function isExpired(key: Pick<KeyRow, 'expiresAt' | 'endsAt'>, now: number): boolean {
  const end = endOf(key)
  return end !== null && end <= now
}

/** The key as the API shows it. */
export function toKeyInfo(key: KeyRow, now: number): ApiKeyInfo {
  const { allowedOrigins, createdAt, lastUsedAt } = key
  const end = endOf(key)
  return {
    ...sharedFields(key),
    allowedOrigins: allowedOrigins && [...allowedOrigins],
    isActive: !isExpired(key, now),
    createdAt: isoTime(createdAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
    expiresAt: end === null ? null : isoTime(end),
  }
}

/** The fields that a key has from its creation on. */
export function sharedFields({ id, prefix, name, type, scopes }: KeyRow) {
  return { id, prefix, name, type, scopes: scopes && [...scopes] }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}
