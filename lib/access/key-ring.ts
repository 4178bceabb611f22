import { desc, eq, gt, max } from 'drizzle-orm'
import { BoundedCache } from '../bounded-cache.ts'
import type { Scope } from '../contract/operation.ts'
import type { Db } from '../db/open.ts'
import { accessChanges, apiKeys, users } from '../db/tables.ts'
import { type Statement, unit } from '../db/unit.ts'
import type { Plan, Plans } from '../plans.ts'
import { hashKey, isKeyText, type KeyType } from './api-key.ts'
import { type OriginPattern, parseOriginPattern } from './origins.ts'

/** What a request needs to know of its key. */
export interface KeyRecord {
  readonly id: string
  readonly userId: string
  readonly prefix: string
  readonly type: KeyType
  /** null: every scope. */
  readonly scopes: readonly Scope[] | null
  readonly origins: readonly OriginPattern[]
  readonly plan: Plan
  readonly expiresAt: number | null
}

/** All keys, in memory: a request is let in without a database read. */
export interface KeyRing {
  /** The record of a key that is known and has not expired at `now`. */
  find(text: string, now: number): KeyRecord | null
  /**
   * Runs statements that change keys or plans in one transaction, and takes the change over before
   * it returns: the next request meets it. Returns whether the first statement changed something.
   */
  change(statements: [Statement, ...Statement[]]): Promise<boolean>
}

/** Key texts whose record is remembered: checking and hashing a text takes longer than a look-up. */
const REMEMBERED_TEXTS = 10_000

/**
 * Loads the keys. What another process changes is met by the next request, too: `data_version`
 * tells in a microsecond whether another connection has written, and is read once in each turn of
 * the event loop that brings a request. `onError` is told where that fails; known keys stay good.
 */
export function openKeyRing(db: Db, plans: Plans, onError: (error: unknown) => void): KeyRing {
  const readDataVersion = db.$client.prepare<[], number>('PRAGMA data_version').pluck()
  const loaded = loadKeys(db, plans)
  let dataVersion = readDataVersion.get()
  let byText = new BoundedCache<string, KeyRecord>(REMEMBERED_TEXTS)
  let looked = false

  const takeOver = () => {
    if (loaded.update()) byText = new BoundedCache(REMEMBERED_TEXTS)
  }
  const endTurn = () => {
    looked = false
  }
  const look = () => {
    looked = true
    setImmediate(endTurn)
    try {
      const version = readDataVersion.get()
      if (version === dataVersion) return
      takeOver()
      dataVersion = version
    } catch (error) {
      onError(error)
    }
  }
  const findByText = (text: string) => {
    if (!isKeyText(text)) return undefined
    const key = loaded.byHash.get(hashKey(text))
    if (key !== undefined) byText.set(text, key)
    return key
  }
  return {
    find: (text, now) => {
      if (!looked) look()
      const key = byText.get(text) ?? findByText(text)
      return key === undefined || isExpired(key, now) ? null : key
    },
    change: async (statements) => {
      const changed = await unit(db, statements)
      takeOver()
      return changed
    },
  }
}

function isExpired({ expiresAt }: KeyRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

interface LoadedKeys {
  readonly byHash: ReadonlyMap<string, KeyRecord>
  /** Loads the keys of users whose access has changed since. Returns whether there were any. */
  update(): boolean
}

function loadKeys(db: Db, plans: Plans): LoadedKeys {
  const byHash = new Map<string, KeyRecord>()
  const hashesOf = new Map<string, string[]>()
  const add = (row: StoredKey) => {
    byHash.set(row.hash, toRecord(row, plans))
    const hashes = hashesOf.get(row.userId)
    if (hashes === undefined) hashesOf.set(row.userId, [row.hash])
    else hashes.push(row.hash)
  }
  const reload = (userId: string) => {
    for (const hash of hashesOf.get(userId) ?? []) byHash.delete(hash)
    hashesOf.delete(userId)
    selectKeys(db).where(eq(apiKeys.userId, userId)).all().forEach(add)
  }
  // Read before the keys: a change in between is then loaded twice, and never missed.
  let revision = latestRevision(db)
  selectKeys(db).all().forEach(add)
  return {
    byHash,
    update: () => {
      const changes = changesSince(db, revision)
      for (const { userId } of changes) reload(userId)
      revision = changes[0]?.revision ?? revision
      return changes.length > 0
    },
  }
}

function latestRevision(db: Db): number {
  return (
    db
      .select({ revision: max(accessChanges.revision) })
      .from(accessChanges)
      .get()?.revision ?? 0
  )
}

/** Latest first. */
function changesSince(db: Db, revision: number) {
  return db
    .select()
    .from(accessChanges)
    .where(gt(accessChanges.revision, revision))
    .orderBy(desc(accessChanges.revision))
    .all()
}

type StoredKey = ReturnType<ReturnType<typeof selectKeys>['all']>[number]

function selectKeys(db: Db) {
  return db
    .select({
      hash: apiKeys.hash,
      id: apiKeys.id,
      userId: apiKeys.userId,
      prefix: apiKeys.prefix,
      type: apiKeys.type,
      scopes: apiKeys.scopes,
      allowedOrigins: apiKeys.allowedOrigins,
      expiresAt: apiKeys.expiresAt,
      planId: users.plan,
    })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.userId))
}

function toRecord({ hash: _, allowedOrigins, planId, ...key }: StoredKey, plans: Plans): KeyRecord {
  return {
    ...key,
    // A plan that was taken out of the file leaves its users with the free one.
    plan: plans.find(planId) ?? plans.free,
    origins: (allowedOrigins ?? []).map(parseOriginPattern).filter((origin) => origin !== null),
  }
}
