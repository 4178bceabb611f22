import type { ApiKeyInfo } from '../contract/account/account-schemas.ts'
import { isExpired, type KeyRow } from './keys.ts'

/** The key as the API shows it. `unwrittenUse`: a use that is not in the database yet, in epoch milliseconds. */
export function toKeyInfo(key: KeyRow, now: number, unwrittenUse = 0): ApiKeyInfo {
  const { allowedOrigins, createdAt, expiresAt } = key
  const usedAt = Math.max(key.lastUsedAt ?? 0, unwrittenUse)
  return {
    ...sharedFields(key),
    allowedOrigins: allowedOrigins && [...allowedOrigins],
    isActive: !isExpired(key, now),
    createdAt: isoTime(createdAt),
    lastUsedAt: usedAt === 0 ? null : isoTime(usedAt),
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
