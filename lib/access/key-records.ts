import { type Entitlement, toEntitlement } from '../config/entitlement.ts'
import type { Plans } from '../config/plans.ts'
import type { KeyType } from '../contract/account/account-schemas.ts'
import type { Scope } from '../contract/operation.ts'
import { subscriptions } from '../db/billing-tables.ts'
import { desc, eq, gt } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { accessChanges, apiKeys, users } from '../db/tables.ts'
import { entitlementColumns } from './entitlement-columns.ts'
import { type OriginPattern, parseOriginPattern } from './origins.ts'

/** The parts of a key that requests need. */
export interface KeyRecord extends Entitlement {
  readonly id: string
  readonly userId: string
  readonly prefix: string
  readonly type: KeyType
  /** null means every scope. */
  readonly scopes: readonly Scope[] | null
  readonly origins: readonly OriginPattern[]
  readonly expiresAt: number | null
  /** Last use since the record was loaded, to the second; 0: none. Only `LastUsed` sets it. */
  lastUsedAt: number
}

/** Loads the keys. All rows are parsed before any is used, so a failure changes nothing. */
export function loadKeyRecords(db: Db, plans: Plans) {
  const { readAll, readSince } = createReader(db)
  const byHash = new Map<string, KeyRecord>()
  const hashesOf = new Map<string, string[]>()
  const add = (hash: string, record: KeyRecord) => {
    byHash.set(hash, record)
    const hashes = hashesOf.get(record.userId)
    if (hashes === undefined) hashesOf.set(record.userId, [hash])
    else hashes.push(hash)
  }
  const forget = (userId: string) => {
    for (const hash of hashesOf.get(userId) ?? []) byHash.delete(hash)
    hashesOf.delete(userId)
  }
  const all = readAll()
  let { revision } = all
  for (const row of all.rows) add(row.hash, toRecord(row, plans))
  return {
    byHash,
    /** Reloads the keys of users whose access changed since the last read. Returns whether any did. */
    update: () => {
      const { changes, rows } = readSince(revision)
      const [latest] = changes
      if (latest === undefined) return false
      const changed = rows.map((row) => [row.hash, toRecord(row, plans)] as const)
      for (const { userId } of changes) forget(userId)
      for (const [hash, record] of changed) add(hash, record)
      revision = latest.revision
      return true
    },
  }
}

/** Reads keys and changes in one transaction, so that they match. */
function createReader(db: Db) {
  return {
    readAll: db.$client.transaction(() => ({
      revision: selectChangesSince(db, 0).get()?.revision ?? 0,
      rows: selectKeys(db).all(),
    })),
    readSince: db.$client.transaction((revision: number) => ({
      changes: selectChangesSince(db, revision).all(),
      rows: selectKeys(db)
        .innerJoin(accessChanges, eq(accessChanges.userId, apiKeys.userId))
        .where(gt(accessChanges.revision, revision))
        .all(),
    })),
  }
}

/** Latest first. */
function selectChangesSince(db: Db, revision: number) {
  return db
    .select()
    .from(accessChanges)
    .where(gt(accessChanges.revision, revision))
    .orderBy(desc(accessChanges.revision))
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
      ...entitlementColumns,
    })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
}

function toRecord(row: StoredKey, plans: Plans): KeyRecord {
  const { hash: _, allowedOrigins, givenPlan, subscribed, ...key } = row
  return {
    ...key,
    ...toEntitlement({ givenPlan, subscribed }, plans),
    origins: (allowedOrigins ?? []).map(parseOriginPattern).filter((origin) => origin !== null),
    lastUsedAt: 0,
  }
}
