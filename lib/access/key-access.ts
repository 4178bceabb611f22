import { ApiError } from '../errors.ts'
import type { KeyType } from './api-key.ts'
import type { NewKey } from './keys.ts'
import { parseOriginPattern } from './origins.ts'
import { toScopes } from './scopes.ts'

/** What a new key shall be good for, in the words of who makes it. */
export interface WantedAccess {
  readonly type: KeyType
  readonly scopes?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
}

/** What a key is good for, as it is stored: in order, normalised, nothing twice. */
export type KeyAccess = Pick<NewKey, 'scopes' | 'allowedOrigins'>

/** Throws BAD_REQUEST where scopes and origins do not suit the type of the key. */
export function toKeyAccess({ type, scopes, allowedOrigins }: WantedAccess): KeyAccess {
  const wanted = scopes === undefined ? null : toScopes(scopes)
  if (type === 'secret') {
    if (allowedOrigins === undefined) return { scopes: wanted, allowedOrigins: null }
    throw new ApiError('BAD_REQUEST', 'allowedOrigins: a secret key has no origins')
  }
  if (wanted?.some((scope) => scope !== 'geo:read')) {
    throw new ApiError('BAD_REQUEST', 'scopes: a publishable key can only have geo:read')
  }
  if (allowedOrigins === undefined || allowedOrigins.length === 0) {
    throw new ApiError('BAD_REQUEST', 'allowedOrigins: a publishable key needs at least one')
  }
  return { scopes: ['geo:read'], allowedOrigins: normaliseOrigins(allowedOrigins) }
}

function normaliseOrigins(texts: readonly string[]): string[] {
  return [...new Set(texts.map(normaliseOrigin))]
}

function normaliseOrigin(text: string): string {
  const pattern = parseOriginPattern(text)
  if (pattern !== null) return pattern.text
  const example = 'https://app.example or https://*.app.example'
  throw new ApiError('BAD_REQUEST', `allowedOrigins: must be such as ${example}, got "${text}"`)
}
