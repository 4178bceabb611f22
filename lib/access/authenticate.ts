import { type Entitlement, toEntitlement } from '../config/entitlement.ts'
import type { Plans } from '../config/plans.ts'
import { quoted } from '../contract/common.ts'
import type { Operation, Scope } from '../contract/operation.ts'
import { ApiError, UNAUTHORIZED } from '../parts/errors.ts'
import type { FindSession, SessionUser } from './find-session.ts'
import type { KeyRecord } from './key-ring/key-records.ts'
import type { KeyRing } from './key-ring/key-ring.ts'
import { matchesOrigin } from './origins.ts'
import { hasScope } from './scopes.ts'

/** The authenticated caller of a request. */
export interface Caller extends Entitlement {
  readonly userId: string
  /** `dashboard` for our own pages, `api` for any other program. */
  readonly app: 'api' | 'dashboard'
  /** null means every scope. */
  readonly scopes: readonly Scope[] | null
  /** null for a session. */
  readonly key: KeyRecord | null
  /** The caller's name in the audit log: the prefix of the key, or the e-mail address. */
  readonly label: string | null
  /** The id of the session; absent for keys, and for sessions of a remote auth service. */
  readonly sessionId?: string | undefined
  /** The allowed origin that sent a publishable key; null for other credentials. */
  readonly origin: string | null
}

/** What it takes to check keys and sessions. */
interface Checks {
  readonly keys: KeyRing
  readonly findSession: FindSession
  readonly plans: Plans
  /** Public address of this service. */
  readonly baseUrl: () => string
}

/** Reads a header of the request by its lower-case name. Each read is slow. */
type ReadHeader = (name: string) => string | undefined

type Row = Pick<Operation, 'access' | 'errors' | 'fullAccess'>

/** The bearer token of an Authorization header; null if there is none. */
export function bearerOf(authorization: string | null | undefined): string | null {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null
}

const KEY_TOKEN = /^bearer +([sp]k_live_\S*)$/i
const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i
const KEY_USER = /^([sp]k_live_[^:]*):$/

/**
 * Returns the text of the API key that the request carries: `X-API-Key`, else in `Authorization` a bearer token in
 * the form of a key, or the user of Basic without a password, as `curl -u KEY:` sends it. undefined if there is none.
 */
export function readKeyText(readHeader: ReadHeader): string | undefined {
  const given = readHeader('x-api-key')
  if (given !== undefined) return given
  const authorization = readHeader('authorization')
  if (authorization === undefined) return undefined
  return KEY_TOKEN.exec(authorization)?.[1] ?? readKeyUser(authorization)
}

/** RFC 7617, section 2. */
function readKeyUser(authorization: string): string | undefined {
  const [, credentials] = BASIC.exec(authorization) ?? []
  if (credentials === undefined) return undefined
  return KEY_USER.exec(Buffer.from(credentials, 'base64').toString())?.[1]
}

/** Returns the API key that the request carries. Throws 401 if it is invalid. */
export function authenticateKey(
  { keys }: Pick<Checks, 'keys'>,
  readHeader: ReadHeader,
  now: number,
): KeyRecord {
  const key = keys.find(readKeyText(readHeader) ?? '', now)
  if (key === null) throw unauthorized()
  return key
}

/** Returns the caller that the key identifies. Throws 403 if it may not use the operation. */
export function authorizeKey(
  checks: Pick<Checks, 'baseUrl'>,
  key: KeyRecord,
  readHeader: ReadHeader,
  { access, fullAccess }: Row,
): Caller {
  if (access !== 'public' && !mayUse(key, access)) {
    throw new ApiError('INSUFFICIENT_SCOPE', missingScopeText(key, access))
  }
  if (fullAccess === true && key.scopes !== null) {
    throw new ApiError('INSUFFICIENT_SCOPE', 'This needs a session or a key with full access')
  }
  const origin = key.type === 'secret' ? null : allowedOrigin(checks, key, readHeader)
  const { userId, plan, paid, capShares, scopes, prefix: label } = key
  return { userId, app: 'api', plan, paid, capShares, scopes, key, label, origin }
}

/** The error for a request without a credential: 403 for a look-up, else 401. */
export function withoutCredential({ errors }: Row): ApiError {
  if (errors?.includes('ANONYMOUS_ACCESS') !== true) return unauthorized()
  return new ApiError('ANONYMOUS_ACCESS', 'This look-up needs an API key: send it as X-API-Key')
}

/**
 * Returns the user whose session the header Authorization carries. `client` is the client's address.
 * Throws 401 if the session is invalid, and 503 if the auth service does not answer.
 */
export async function authenticateSession(
  { findSession }: Pick<Checks, 'findSession'>,
  authorization: string,
  now: number,
  client: string | undefined,
): Promise<SessionUser> {
  const token = bearerOf(authorization)
  const user = token === null ? null : await findSession(token, now, client)
  if (user === null) throw unauthorized()
  return user
}

/**
 * Returns the caller: a session may do everything that its user may. Throws 403 if the user must first
 * verify the e-mail address.
 */
export function authorizeSession(
  { plans }: Pick<Checks, 'plans'>,
  user: SessionUser,
  row: Row,
): Caller {
  if (user.mustVerify === true && row.errors?.includes('EMAIL_NOT_VERIFIED')) {
    throw new ApiError('EMAIL_NOT_VERIFIED', NOT_VERIFIED)
  }
  return {
    userId: user.id,
    app: 'api',
    ...toEntitlement(user, plans),
    scopes: null,
    key: null,
    label: user.email,
    sessionId: user.sessionId,
    origin: null,
  }
}

const NOT_VERIFIED =
  'Verify your e-mail address first: open the link in the e-mail, or request a new one on the account page'

/** The same answer for every invalid credential, with the challenge of RFC 6750, section 3. */
export function unauthorized(): ApiError {
  const headers = { 'www-authenticate': 'Bearer realm="Meridian"' }
  return new ApiError('UNAUTHORIZED', UNAUTHORIZED, { headers })
}

function missingScopeText({ type }: KeyRecord, scope: Scope): string {
  return type === 'publishable'
    ? 'A publishable key only looks up addresses: use a secret key'
    : `This key lacks the scope ${scope}: use a key with it`
}

/** A publishable key allows only look-ups, whatever scopes are stored for it. */
function mayUse(key: KeyRecord, scope: Scope): boolean {
  return key.type === 'publishable' ? scope === 'geo:read' : hasScope(key.scopes, scope)
}

function allowedOrigin(
  checks: Pick<Checks, 'baseUrl'>,
  key: KeyRecord,
  readHeader: ReadHeader,
): string {
  const origin = readHeader('origin') ?? ownOrigin(checks, readHeader)
  if (origin === undefined) {
    const message =
      'A publishable key works only on pages of its origins: use a secret key elsewhere'
    throw new ApiError('ORIGIN_NOT_ALLOWED', message)
  }
  if (!matchesOrigin(key.origins, origin)) {
    const message = `${quoted(origin)} is not an origin of this key: create one that allows it`
    throw new ApiError('ORIGIN_NOT_ALLOWED', message)
  }
  return origin
}

/**
 * Browsers send no Origin when a page calls its own server with GET. Instead, they send a header that
 * no page can set (Fetch Metadata), which proves that the page is ours.
 */
function ownOrigin(
  { baseUrl }: Pick<Checks, 'baseUrl'>,
  readHeader: ReadHeader,
): string | undefined {
  return readHeader('sec-fetch-site') === 'same-origin' ? new URL(baseUrl()).origin : undefined
}
