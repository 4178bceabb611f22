import {
  type Entitlement,
  type StoredEntitlement,
  toEntitlement,
} from '../../config/entitlement.ts'
import type { Plans } from '../../config/plans.ts'
import type { KeyType } from '../../contract/account/account-schemas.ts'
import type { Interval } from '../../contract/billing/price-schemas.ts'
import type { Scope } from '../../contract/operation.ts'
import { endOf } from '../keys.ts'
import { type OriginPattern, parseOriginPattern } from '../origins.ts'

/** The parts of a key that requests need. */
export interface KeyRecord extends Entitlement {
  readonly id: string
  readonly userId: string
  readonly prefix: string
  readonly type: KeyType
  /** null means every scope. */
  readonly scopes: readonly Scope[] | null
  readonly origins: readonly OriginPattern[]
  /** When it stops working; null: never. */
  readonly expiresAt: number | null
}

/** The keys in memory, by the hashes of their texts. */
export type KeyIndex = ReturnType<typeof createKeyIndex>

export function createKeyIndex(plans: Plans) {
  const byHash = new Map<string, KeyRecord>()
  const hashesOf = new Map<string, string[]>()
  const put = (hash: string, record: KeyRecord) => {
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
  return {
    find: (hash: string): KeyRecord | undefined => byHash.get(hash),
    /** The number of keys. */
    size: () => byHash.size,
    add: (row: StoredKey): KeyRecord => put(row.hash, toRecord(row, plans)),
    /** Replaces the keys of these users. All rows are parsed before any is used, so a failure changes nothing. */
    replace: (userIds: readonly string[], rows: readonly StoredKey[]) => {
      const records = rows.map((row) => [row.hash, toRecord(row, plans)] as const)
      userIds.forEach(forget)
      for (const [hash, record] of records) put(hash, record)
    },
  }
}

const COLUMNS = {
  hash: 'hash',
  id: 'api_keys.id',
  userId: 'api_keys.user_id',
  prefix: 'prefix',
  type: 'type',
  scopes: 'scopes',
  allowedOrigins: 'allowed_origins',
  expiresAt: 'expires_at',
  endsAt: 'ends_at',
  assignedPlan: 'users.plan',
  paidPlan: 'subscriptions.plan',
  status: 'status',
  periodStart: 'period_start',
  periodEnd: 'period_end',
  interval: 'subscriptions.interval',
  overages: 'overages',
  paidCurrency: 'subscriptions.currency',
  priceCurrency: 'overage_prices.currency',
  unitAmount: 'unit_amount',
  otherAmounts: 'others',
  capCurrency: 'spending_caps.currency',
  capAmount: 'amount',
  usageMails: 'users.usage_mails',
} as const satisfies Record<keyof StoredKey, string>

/** Selects keys, as `StoredKey`. The columns are in the order of `KEY_COLUMNS`. */
export const SELECT_KEYS = `SELECT ${Object.entries(COLUMNS)
  .map(([name, column]) => `${column} AS "${name}"`)
  .join(', ')}
  FROM api_keys JOIN users ON users.id = api_keys.user_id AND disabled_at IS NULL
  LEFT JOIN subscriptions ON subscriptions.user_id = users.id
  LEFT JOIN overage_prices ON true
  LEFT JOIN spending_caps ON spending_caps.user_id = users.id`

export const KEY_COLUMNS = Object.keys(COLUMNS)

/** A key as the database has it, with what decides what its user may do. */
export interface StoredKey
  extends Pick<KeyRecord, 'id' | 'userId' | 'prefix' | 'type' | 'expiresAt'> {
  readonly hash: string
  /** JSON. */
  readonly scopes: string | null
  /** JSON. */
  readonly allowedOrigins: string | null
  readonly endsAt: number | null
  readonly assignedPlan: string
  /** The columns of a subscription are null without one. */
  readonly paidPlan: string | null
  readonly status: string
  readonly periodStart: number
  readonly periodEnd: number
  readonly interval: Interval
  readonly overages: 0 | 1
  readonly paidCurrency: string | null
  /** The columns of the price are null while it is unknown. */
  readonly priceCurrency: string | null
  readonly unitAmount: string
  readonly otherAmounts: string
  /** The columns of a spending cap are null unless the user has chosen one. */
  readonly capCurrency: string | null
  readonly capAmount: number
  /** JSON; null: the default. */
  readonly usageMails: string | null
}

function toRecord(row: StoredKey, plans: Plans): KeyRecord {
  const { id, userId, prefix, type } = row
  const scopes: Scope[] | null = row.scopes === null ? null : JSON.parse(row.scopes)
  const origins: string[] = row.allowedOrigins === null ? [] : JSON.parse(row.allowedOrigins)
  return {
    id,
    userId,
    prefix,
    type,
    scopes,
    expiresAt: endOf(row),
    ...toEntitlement(toStored(row), plans),
    origins: origins.map(parseOriginPattern).filter((origin) => origin !== null),
  }
}

function toStored(row: StoredKey): StoredEntitlement {
  const { assignedPlan, paidPlan, status, overages, paidCurrency: currency } = row
  const { periodStart, periodEnd, interval } = row
  const period = { periodStart, periodEnd, interval }
  const { priceCurrency, unitAmount, otherAmounts: others, capCurrency, capAmount } = row
  return {
    assignedPlan,
    subscribed:
      paidPlan === null
        ? null
        : { plan: paidPlan, status, currency, overages: overages === 1, ...period },
    overagePrice: priceCurrency === null ? null : { currency: priceCurrency, unitAmount, others },
    spendingCap: capCurrency === null ? null : { currency: capCurrency, amount: capAmount },
    usageMails: row.usageMails,
  }
}
