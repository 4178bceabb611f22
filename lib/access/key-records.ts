import { type Entitlement, type StoredEntitlement, toEntitlement } from '../config/entitlement.ts'
import type { Plans } from '../config/plans.ts'
import type { KeyType } from '../contract/account/account-schemas.ts'
import type { Interval } from '../contract/billing/price-schemas.ts'
import type { Scope } from '../contract/operation.ts'
import type { SqliteDb } from '../db/open.ts'
import { SECOND_MS } from '../durations.ts'
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

/** Keys per slice. Reading a slice takes about a millisecond. */
const SLICE = 200
const RETRY_MS = SECOND_MS

/**
 * Loads the keys in slices, one in each turn of the event loop, because a million keys take seconds.
 * Until all are loaded, `find` reads a missing key from the database. Failures go to `onError`.
 */
export function loadKeyRecords(db: SqliteDb, plans: Plans, onError: (error: unknown) => void) {
  const read = createReader(db)
  const byHash = new Map<string, KeyRecord>()
  const hashesOf = new Map<string, string[]>()
  const add = (hash: string, record: KeyRecord) => {
    byHash.set(hash, record)
    const hashes = hashesOf.get(record.userId)
    if (hashes === undefined) hashesOf.set(record.userId, [hash])
    else hashes.push(hash)
    return record
  }
  const forget = (userId: string) => {
    for (const hash of hashesOf.get(userId) ?? []) byHash.delete(hash)
    hashesOf.delete(userId)
  }
  // Read before the keys, so that `update` reads again every key that changes while they load.
  let revision = read.revision()
  let lastLoaded = ''
  let isComplete = false
  const loadSlice = () => {
    const rows = read.slice(lastLoaded)
    for (const row of rows) if (!byHash.has(row.hash)) add(row.hash, toRecord(row, plans))
    lastLoaded = rows.at(-1)?.hash ?? lastLoaded
    isComplete = rows.length < SLICE
    if (!isComplete) setImmediate(loadNextSlice)
  }
  const loadNextSlice = () => {
    if (!db.$client.open) return
    try {
      loadSlice()
    } catch (error) {
      onError(error)
      setTimeout(loadNextSlice, RETRY_MS).unref()
    }
  }
  loadSlice()
  const readKey = (hash: string) => {
    try {
      const row = read.key(hash)
      return row === undefined ? undefined : add(hash, toRecord(row, plans))
    } catch (error) {
      onError(error)
      return undefined
    }
  }
  return {
    find: (hash: string): KeyRecord | undefined =>
      byHash.get(hash) ?? (isComplete ? undefined : readKey(hash)),
    /** The number of keys that are loaded. */
    size: () => byHash.size,
    /**
     * Reloads the keys of users whose access changed since the last read. Returns whether any did. All
     * rows are parsed before any is used, so a failure changes nothing.
     */
    update: () => {
      const { changes, rows } = read.since(revision)
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

const KEYS = `SELECT hash, api_keys.id, api_keys.user_id AS userId, prefix, type, scopes,
    allowed_origins AS allowedOrigins, expires_at AS expiresAt, users.plan AS givenPlan,
    subscriptions.plan AS paidPlan, status, period_start AS periodStart, period_end AS periodEnd, interval,
    overages, carried_requests AS carriedRequests, carried_until AS carriedUntil, overage_prices.currency AS priceCurrency, unit_amount AS unitAmount,
    spending_caps.currency AS capCurrency, amount AS capAmount
  FROM api_keys JOIN users ON users.id = api_keys.user_id AND disabled_at IS NULL
  LEFT JOIN subscriptions ON subscriptions.user_id = users.id
  LEFT JOIN overage_prices ON true
  LEFT JOIN spending_caps ON spending_caps.user_id = users.id`

const SLICE_OF_KEYS = `${KEYS} WHERE hash > ? ORDER BY hash LIMIT ${SLICE}`

const CHANGED_KEYS = `${KEYS}
  JOIN access_changes ON access_changes.user_id = api_keys.user_id AND revision > ?`

/** Latest first. */
const CHANGES =
  'SELECT user_id AS userId, revision FROM access_changes WHERE revision > ? ORDER BY revision DESC'

interface StoredKey extends Pick<KeyRecord, 'id' | 'userId' | 'prefix' | 'type' | 'expiresAt'> {
  readonly hash: string
  /** JSON. */
  readonly scopes: string | null
  /** JSON. */
  readonly allowedOrigins: string | null
  readonly givenPlan: string
  /** The columns of a subscription are null without one. */
  readonly paidPlan: string | null
  readonly status: string
  readonly periodStart: number
  readonly periodEnd: number
  readonly interval: Interval
  readonly overages: 0 | 1
  readonly carriedRequests: number | null
  readonly carriedUntil: number | null
  /** The columns of the price are null while it is unknown. */
  readonly priceCurrency: string | null
  readonly unitAmount: string
  /** The columns of a spending cap are null unless the user has chosen one. */
  readonly capCurrency: string | null
  readonly capAmount: number
}

function createReader({ $client }: SqliteDb) {
  const key = $client.prepare<[string], StoredKey>(`${KEYS} WHERE hash = ?`)
  const slice = $client.prepare<[string], StoredKey>(SLICE_OF_KEYS)
  const changedKeys = $client.prepare<[number], StoredKey>(CHANGED_KEYS)
  const changes = $client.prepare<[number], { userId: string; revision: number }>(CHANGES)
  return {
    key: (hash: string) => key.get(hash),
    /** The next keys in the order of their hashes. */
    slice: (after: string) => slice.all(after),
    revision: () => changes.get(0)?.revision ?? 0,
    /** Reads keys and changes in one transaction, so that they match. */
    since: $client.transaction((revision: number) => {
      const changed = changes.all(revision)
      // Most writes change no keys.
      return { changes: changed, rows: changed.length === 0 ? [] : changedKeys.all(revision) }
    }),
  }
}

function toRecord(row: StoredKey, plans: Plans): KeyRecord {
  const { id, userId, prefix, type, expiresAt } = row
  const scopes: Scope[] | null = row.scopes === null ? null : JSON.parse(row.scopes)
  const origins: string[] = row.allowedOrigins === null ? [] : JSON.parse(row.allowedOrigins)
  return {
    id,
    userId,
    prefix,
    type,
    scopes,
    expiresAt,
    ...toEntitlement(toStored(row), plans),
    origins: origins.map(parseOriginPattern).filter((origin) => origin !== null),
    lastUsedAt: 0,
  }
}

function toStored(row: StoredKey): StoredEntitlement {
  const { givenPlan, paidPlan, status, overages } = row
  const { periodStart, periodEnd, interval, carriedRequests, carriedUntil } = row
  const period = { periodStart, periodEnd, interval, carriedRequests, carriedUntil }
  const { priceCurrency, unitAmount, capCurrency, capAmount } = row
  return {
    givenPlan,
    subscribed:
      paidPlan === null ? null : { plan: paidPlan, status, overages: overages === 1, ...period },
    overagePrice: priceCurrency === null ? null : { currency: priceCurrency, unitAmount },
    spendingCap: capCurrency === null ? null : { currency: capCurrency, amount: capAmount },
  }
}
