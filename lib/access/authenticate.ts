import type { Operation, Scope } from '../contract/operation.ts'
import { type Entitlement, toEntitlement } from '../entitlement.ts'
import { ApiError } from '../errors.ts'
import type { Plans } from '../plans.ts'
import type { KeyRecord } from './key-records.ts'
import type { KeyRing } from './key-ring.ts'
import type { LastUsed } from './last-used.ts'
import { matchesOrigin } from './origins.ts'
import { hasScope } from './scopes.ts'
import type { FindSession } from './session.ts'

/** Who is asking, as an API key or a session proves it. */
export interface Caller extends Entitlement {
  readonly userId: string
  /** From where they ask: as any program, or by the dashboard. */
  readonly app: 'api' | 'dashboard'
  /** null: every scope. */
  readonly scopes: readonly Scope[] | null
  /** null: a session. */
  readonly key: KeyRecord | null
  /** What the audit log calls the caller: the prefix of the key, or the e-mail address. */
  readonly label: string | null
  /** The Origin of the request where it is one that the publishable key allows. */
  readonly origin: string | null
}

/** What credentials are checked against. */
export interface Credentials {
  readonly keys: KeyRing
  readonly lastUsed: LastUsed
  readonly findSession: FindSession
  readonly plans: Plans
  /** Address of this service as callers know it. */
  readonly baseUrl: () => string
}

/** Reads a header of the request by its lower-case name. Each read costs, so few are made. */
export type ReadHeader = (name: string) => string | undefined

type Row = Pick<Operation, 'access' | 'errors'>

/**
 * Returns who is asking, if the operation is open to them: at once for a key, later for a session.
 * Throws 401 for a credential that is missing or not good, whatever is wrong with it, 403 for one
 * that may not do this, and 503 where the service that knows the sessions does not answer.
 */
export function authenticate(
  credentials: Credentials,
  readHeader: ReadHeader,
  row: Row,
  now: number,
): Caller | Promise<Caller> {
  const text = readHeader('x-api-key')
  if (text !== undefined) {
    const key = credentials.keys.find(text, now)
    if (key === null) throw unauthorized()
    const caller = keyCaller(credentials, key, readHeader, row)
    credentials.lastUsed.touch(key, now)
    return caller
  }
  const authorization = readHeader('authorization')
  if (authorization !== undefined) return sessionCaller(credentials, authorization, now)
  throw row.errors?.includes('ANONYMOUS_ACCESS')
    ? new ApiError('ANONYMOUS_ACCESS', 'This look-up needs an API key')
    : unauthorized()
}

function keyCaller(
  credentials: Credentials,
  key: KeyRecord,
  readHeader: ReadHeader,
  { access }: Row,
): Caller {
  if (access !== 'public' && !mayUse(key, access)) {
    throw new ApiError('INSUFFICIENT_SCOPE', `This key lacks the scope ${access}`)
  }
  return {
    userId: key.userId,
    app: 'api',
    plan: key.plan,
    paid: key.paid,
    scopes: key.scopes,
    key,
    label: key.prefix,
    origin: key.type === 'secret' ? null : allowedOrigin(credentials, key, readHeader),
  }
}

/** A session may do all that its user may. */
async function sessionCaller(
  { findSession, plans }: Credentials,
  authorization: string,
  now: number,
): Promise<Caller> {
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1]
  const user = token === undefined ? null : await findSession(token, now)
  if (user === null) throw unauthorized()
  return {
    userId: user.id,
    app: 'api',
    ...toEntitlement(user, plans),
    scopes: null,
    key: null,
    label: user.email,
    origin: null,
  }
}

/** The one answer to every credential that is no good, with the challenge of RFC 6750, section 3. */
export function unauthorized(): ApiError {
  const headers = { 'www-authenticate': 'Bearer realm="Meridian"' }
  return new ApiError('UNAUTHORIZED', 'A valid API key or session is required', { headers })
}

/** A publishable key is for look-ups alone, whatever stands in its row. */
function mayUse(key: KeyRecord, scope: Scope): boolean {
  return key.type === 'publishable' ? scope === 'geo:read' : hasScope(key.scopes, scope)
}

function allowedOrigin(credentials: Credentials, key: KeyRecord, readHeader: ReadHeader): string {
  const origin = readHeader('origin') ?? ownOrigin(credentials, readHeader)
  if (origin === undefined || !matchesOrigin(key.origins, origin)) {
    throw new ApiError('ORIGIN_NOT_ALLOWED', 'This key may not be used from this origin')
  }
  return origin
}

/**
 * Browsers send no Origin where a page asks its own server with GET. They say so instead, in a
 * header that no page can set (Fetch Metadata): then the page is one of this service.
 */
function ownOrigin({ baseUrl }: Credentials, readHeader: ReadHeader): string | undefined {
  return readHeader('sec-fetch-site') === 'same-origin' ? new URL(baseUrl()).origin : undefined
}
