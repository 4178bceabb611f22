import type { GenericSchema } from 'valibot'
import type { ErrorCode } from '../errors.ts'

/** What a key may be allowed to do. A key made with `location:read` holds `geo:read`. */
export const SCOPES = [
  'geo:read',
  'account:read',
  'account:write',
  'billing:read',
  'billing:write',
] as const
export type Scope = (typeof SCOPES)[number]

/** Which counter a request is charged to: see `LIMITS`. */
export type Limit = 'none' | 'plan' | 'account' | 'address' | 'beacon' | 'contact'

export type Tag = 'System' | 'Geolocation' | 'Account' | 'Billing' | 'Telemetry' | 'Contact'

export interface Reply {
  readonly description: string
  /** The body; null where there is none. */
  readonly schema: GenericSchema | null
  readonly example?: unknown
  readonly links?: Links
}

/**
 * Where the answer leads: by the id of an operation, its parameters, each with the field of the body
 * that holds its value.
 */
export type Links = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Body {
  readonly schema: GenericSchema
  readonly example: unknown
  /** Further examples, by what they show. */
  readonly otherExamples?: Readonly<Record<string, unknown>>
  /** 16 KB unless told. */
  readonly maxBytes?: number
  /** The handler gets the bytes as they came, and parses them itself: a signature is over these. */
  readonly raw?: true
}

export interface Param {
  readonly description: string
  readonly example: string
  /** Which texts are good, for the description alone: any, unless told. Handlers do the checking. */
  readonly schema?: GenericSchema
}

/** One row of the interface: what a request may be, and what it may get back. */
export interface Operation {
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In OpenAPI form, such as /v1/ip/{ipAddress}. */
  readonly path: `/${string}`
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** The scope that a key needs; 'public' needs no key. */
  readonly access: 'public' | Scope
  readonly limit: Limit
  /** Its 200 and 404 count towards the monthly cap of the plan. */
  readonly metered?: true
  /** How many requests of its limit it takes, by its body; 1 unless told. */
  // biome-ignore lint/suspicious/noExplicitAny: the body of this row
  readonly weigh?: (body: any) => number
  readonly params?: Readonly<Record<string, Param>>
  readonly query?: GenericSchema
  /** Headers that the request must have, beside those that `access` asks for. */
  readonly headers?: Readonly<Record<string, Param>>
  readonly body?: Body
  /** The answers that are no ApiError, by status. */
  readonly replies: Readonly<Record<number, Reply>>
  /** The errors of this row alone; `errorCodes` adds what its other columns imply. */
  readonly errors?: readonly ErrorCode[]
}

/** All codes that an ApiError of this row may carry. */
export function errorCodes(row: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(row.errors)
  if (row.access !== 'public') {
    codes.add('UNAUTHORIZED').add('INSUFFICIENT_SCOPE')
    codes.add('AUTH_UNAVAILABLE').add('SERVICE_UNAVAILABLE')
  }
  if (row.access === 'geo:read') codes.add('ORIGIN_NOT_ALLOWED')
  if (row.limit !== 'none') codes.add('RATE_LIMITED')
  if (row.body !== undefined) codes.add('BAD_REQUEST').add('PAYLOAD_TOO_LARGE')
  if (row.query !== undefined) codes.add('BAD_REQUEST')
  codes.add('INTERNAL')
  return [...codes]
}
