import type { KeyType } from '../contract/account/account-schemas.ts'
import { fieldError } from '../parts/errors.ts'
import type { NewKey } from './keys.ts'
import { parseOriginPattern } from './origins.ts'
import { toScopes } from './scopes.ts'

/** The access that the caller requests for a new key. */
export interface WantedAccess {
  readonly type: KeyType
  /** null: full access. */
  readonly scopes?: readonly string[] | null | undefined
  readonly allowedOrigins?: readonly string[] | null | undefined
}

/** The access of a key, as stored: ordered, normalised, without duplicates. */
export type KeyAccess = Pick<NewKey, 'scopes' | 'allowedOrigins'>

/** Throws BAD_REQUEST if scopes or origins do not fit the type of the key. */
export function toKeyAccess({ type, scopes, allowedOrigins }: WantedAccess): KeyAccess {
  const wanted = scopes ? toScopes(scopes) : null
  if (type === 'secret') {
    if (!allowedOrigins) return { scopes: wanted, allowedOrigins: null }
    throw fieldError('allowedOrigins', 'a secret key has no origins')
  }
  if (scopes === null || wanted?.some((scope) => scope !== 'geo:read')) {
    throw fieldError('scopes', 'a publishable key can only have geo:read')
  }
  if (!allowedOrigins || allowedOrigins.length === 0) {
    throw fieldError('allowedOrigins', 'a publishable key needs at least one')
  }
  return { scopes: ['geo:read'], allowedOrigins: [...new Set(allowedOrigins.map(normaliseOrigin))] }
}

function normaliseOrigin(text: string): string {
  const pattern = parseOriginPattern(text)
  if (pattern !== null) return pattern.text
  const example = 'https://app.example or https://*.app.example'
  throw fieldError('allowedOrigins', `must look like ${example}, got "${text}"`)
}
