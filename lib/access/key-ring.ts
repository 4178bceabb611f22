import { eq } from 'drizzle-orm'
import { BoundedCache } from '../bounded-cache.ts'
import type { Scope } from '../contract/operation.ts'
import type { Db } from '../db/open.ts'
import { apiKeys, revisions, users } from '../db/tables.ts'
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
  /** Takes over what another process has changed; cheap where nothing has. */
  refresh(): void
}

/** Key texts whose record is remembered: checking and hashing a text takes longer than a look-up. */
const REMEMBERED_TEXTS = 10_000

/**
 * Loads the keys. `data_version` tells in a microsecond whether another connection has written;
 * only then is the revision read, and only if that has moved are the keys loaded anew.
 */
export function openKeyRing(db: Db, plans: Plans): KeyRing {
  const readDataVersion = db.$client.prepare<[], number>('PRAGMA data_version').pluck()
  let dataVersion = readDataVersion.get()
  let revision = readRevision(db)
  let byHash = loadKeys(db, plans)
  let byText = new BoundedCache<string, KeyRecord>(REMEMBERED_TEXTS)

  const refresh = () => {
    const version = readDataVersion.get()
    if (version === dataVersion) return
    dataVersion = version
    const current = readRevision(db)
    if (current === revision) return
    revision = current
    byHash = loadKeys(db, plans)
    byText = new BoundedCache(REMEMBERED_TEXTS)
  }
  const findByHash = (hash: string) => {
    const known = byHash.get(hash)
    if (known !== undefined) return known
    refresh()
    return byHash.get(hash)
  }
  const findByText = (text: string) => {
    if (!isKeyText(text)) return undefined
    const key = findByHash(hashKey(text))
    if (key !== undefined) byText.set(text, key)
    return key
  }
  return {
    refresh,
    find: (text, now) => {
      const key = byText.get(text) ?? findByText(text)
      return key === undefined || isExpired(key, now) ? null : key
    },
  }
}

function isExpired({ expiresAt }: KeyRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

function readRevision(db: Db): number {
  const row = db.select().from(revisions).where(eq(revisions.subject, 'access')).get()
  return row?.revision ?? 0
}

function loadKeys(db: Db, plans: Plans): Map<string, KeyRecord> {
  const rows = db
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
    .all()
  return new Map(
    rows.map(({ hash, allowedOrigins, planId, ...key }) => [
      hash,
      {
        ...key,
        // A plan that was taken out of the file leaves its users with the free one.
        plan: plans.find(planId) ?? plans.free,
        origins: (allowedOrigins ?? []).map(parseOriginPattern).filter((origin) => origin !== null),
      },
    ]),
  )
}
