import type { GenericSchema, InferOutput } from 'valibot'
import type { ErrorCode } from '../parts/errors.ts'

/** Scopes of a key. `location:read` is another name for `geo:read`. */
export const SCOPES = [
  'geo:read',
  'account:read',
  'account:write',
  'billing:read',
  'billing:write',
] as const
export type Scope = (typeof SCOPES)[number]

/** The values of the header `Idempotency-Key`: printable ASCII. */
export const IDEMPOTENCY_KEY = /^[ -~]{1,255}$/

/** The rate limit that a request counts towards. */
export type Limit = 'none' | 'plan' | 'account' | 'address' | 'beacon' | 'contact'

/** A limit per user on successful requests. */
export type SuccessLimit =
  | 'billing'
  | 'emailChanges'
  | 'exports'
  | 'inquiries'
  | 'newKeys'
  | 'newSites'
  | 'passwords'
  | 'secondFactors'
  | 'usageMails'

export type Tag = 'System' | 'Geolocation' | 'Account' | 'Billing' | 'Telemetry' | 'Contact'

/** Forms of a body. Every operation has JSON. */
export type MediaType = 'application/json' | 'application/x-ndjson' | 'text/csv' | 'text/plain'

export interface Reply {
  readonly description: string
  /** Schema of the body; null if there is no body. */
  readonly schema: GenericSchema | null
  /** The Content-Type of a file in place of a JSON body. */
  readonly file?: 'application/gzip'
  readonly example?: unknown
  /** Forms other than JSON that callers may ask for by the header `Accept`, each with an example. */
  readonly otherForms?: Readonly<Partial<Record<MediaType, string>>>
  readonly links?: Links
  /** Headers that only this reply has. */
  readonly headers?: Readonly<Record<string, Param>>
}

/** OpenAPI links: operation id → its parameters → the field of this body that holds the value. */
export type Links = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Body {
  readonly schema: GenericSchema
  readonly example: unknown
  /** More examples, by what each one shows. */
  readonly otherExamples?: Readonly<Record<string, unknown>>
  /** Whether the body may be left out: then it is read as {}. */
  readonly isOptional?: true
  /** Largest body in bytes; 16 KB by default. */
  readonly maxBytes?: number
  /** The handler gets the raw bytes and parses them itself, because a signature covers them. */
  readonly raw?: true
}

export interface Param {
  readonly description: string
  readonly example: string
  /** Valid values; any text by default. For the description only: handlers do the checking. */
  readonly schema?: GenericSchema
}

/** One row of the interface: an operation, its requests and its answers. */
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
  /** Whether a key also needs full access: then no list of scopes is enough. */
  readonly fullAccess?: true
  readonly limit: Limit
  /** A second limit, per user, on successful requests only; for inquiries also per address. */
  readonly successLimit?: SuccessLimit
  /** Whether a 400 counts towards `successLimit`, too, because it may answer a guess. */
  readonly countsGuesses?: true
  /** Its replies, and refusals of visitors, count towards the monthly cap of the plan. */
  readonly metered?: true
  /** How many requests of the limit one call costs, given its body; 1 by default. */
  // biome-ignore lint/suspicious/noExplicitAny: the body of this row
  readonly requestsIn?: (body: any) => number
  readonly params?: Readonly<Record<string, Param>>
  readonly query?: GenericSchema
  /** Required headers, in addition to those for authentication. */
  readonly headers?: Readonly<Record<string, Param>>
  readonly body?: Body
  /** Whether a second request with the same header `Idempotency-Key` has no effect, and gets the same answer. */
  readonly takesIdempotencyKey?: true
  /** Answers other than ApiError, by status. */
  readonly replies: Readonly<Record<number, Reply>>
  /** Errors specific to this row; `errorCodes` adds those that its other columns imply. */
  readonly errors?: readonly ErrorCode[]
}

/** The replies of an operation whose only success is 200. */
export function ok<Schema extends GenericSchema>(
  description: string,
  schema: Schema,
  example: InferOutput<NoInfer<Schema>>,
) {
  return { 200: { description, schema, example } } as const
}

/** The replies of an operation whose only success is 201, with links to the operations that can follow. */
export function created<Schema extends GenericSchema>(
  description: string,
  schema: Schema,
  example: InferOutput<NoInfer<Schema>>,
  links: Links,
) {
  return { 201: { description, schema, example, links } } as const
}

/** The forms of the row's answers, JSON first. */
export function formsOf({ replies }: Pick<Operation, 'replies'>): readonly MediaType[] {
  const others = Object.values(replies).flatMap(({ otherForms = {} }) => Object.keys(otherForms))
  // safe: the keys of `otherForms`
  return [...new Set(['application/json', ...others])] as MediaType[]
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
  if (row.body !== undefined && row.body.raw !== true) codes.add('UNSUPPORTED_MEDIA_TYPE')
  if (row.takesIdempotencyKey === true) codes.add('BAD_REQUEST').add('IDEMPOTENCY_KEY_REUSED')
  if (row.query !== undefined) codes.add('BAD_REQUEST')
  codes.add('INTERNAL')
  return [...codes]
}
