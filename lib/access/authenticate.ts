import type { Operation, Scope } from '../contract/operation.ts'
import { ApiError } from '../errors.ts'
import type { Plan } from '../plans.ts'
import type { KeyRecord, KeyRing } from './key-ring.ts'
import { matchesOrigin } from './origins.ts'
import { hasScope } from './scopes.ts'

/** Who is asking, as an API key proves it. */
export interface Caller {
  readonly userId: string
  readonly keyId: string
  readonly keyPrefix: string
  readonly plan: Plan
  /** null: every scope. */
  readonly scopes: readonly Scope[] | null
  /** The Origin of the request where it is one that the publishable key allows. */
  readonly origin: string | null
}

/** Reads a header of the request by its lower-case name. Each read costs, so few are made. */
export type ReadHeader = (name: string) => string | undefined

/**
 * Returns who is asking, if the operation is open to them. Throws 401 for a credential that is
 * missing or not good, whatever is wrong with it, and 403 for one that may not do this.
 */
export function authenticate(
  keys: KeyRing,
  readHeader: ReadHeader,
  row: Pick<Operation, 'access' | 'errors'>,
  now: number,
): Caller {
  const text = readHeader('x-api-key')
  const key = text === undefined ? null : keys.find(text, now)
  if (key === null) throw refusal(row, text ?? readHeader('authorization'))
  const { access } = row
  if (access !== 'public' && !mayUse(key, access)) {
    throw new ApiError('INSUFFICIENT_SCOPE', `This key lacks the scope ${access}`)
  }
  return {
    userId: key.userId,
    keyId: key.id,
    keyPrefix: key.prefix,
    plan: key.plan,
    scopes: key.scopes,
    origin: key.type === 'secret' ? null : allowedOrigin(key, readHeader('origin')),
  }
}

function refusal({ errors }: Pick<Operation, 'errors'>, credential: string | undefined): ApiError {
  return credential === undefined && errors?.includes('ANONYMOUS_ACCESS')
    ? new ApiError('ANONYMOUS_ACCESS', 'This look-up needs an API key')
    : new ApiError('UNAUTHORIZED', 'A valid API key is required')
}

/** A publishable key is for look-ups alone, whatever stands in its row. */
function mayUse(key: KeyRecord, scope: Scope): boolean {
  return key.type === 'publishable' ? scope === 'geo:read' : hasScope(key.scopes, scope)
}

function allowedOrigin(key: KeyRecord, origin: string | undefined): string {
  if (origin === undefined || !matchesOrigin(key.origins, origin)) {
    throw new ApiError('ORIGIN_NOT_ALLOWED', 'This key may not be used from this origin')
  }
  return origin
}
