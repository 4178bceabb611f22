import type { ApiKeyInfo } from '../contract/account/account-schemas.ts'
import { isExpired, type KeyRow } from './keys.ts'

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
