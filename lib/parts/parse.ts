import * as v from 'valibot'
import { ApiError, fieldError } from './errors.ts'

/** Returns `input` as the schema's output. Throws BAD_REQUEST naming the first bad field. */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortEarly: true, message: toWords })
  if (result.success) return result.output
  const [issue] = result.issues
  if (Array.isArray(issue.path?.[0].input)) {
    throw new ApiError('BAD_REQUEST', 'The body must be an object, not a list')
  }
  const field = v.getDotPath(issue)
  const message = messageOf(issue)
  throw field === null ? new ApiError('BAD_REQUEST', message) : fieldError(field, message)
}

/** Replaces valibot's words for a missing and for an unknown field, which are about keys and types. */
function messageOf({ path, expected, message }: v.BaseIssue<unknown>): string {
  if (path?.at(-1)?.origin !== 'key') return message
  return expected === 'never' ? 'is not a field of this request' : 'is missing'
}

/**
 * Says what is wrong with a value, after the name of its field: `must be a list`. For issues whose schema
 * has no message of its own.
 */
function toWords(issue: v.BaseIssue<unknown>): string {
  const { type, input, expected } = issue
  if (expected === 'never') return 'is not a known field'
  if (input === undefined) return 'is missing'
  const rule = RULES[type]
  return rule === undefined ? `must be ${typeWords(expected)}` : rule(issue)
}

type Rule = (issue: v.BaseIssue<unknown>) => string

const RULES: Readonly<Record<string, Rule>> = {
  integer: () => 'must be a whole number',
  iso_date: () => 'must be a date, such as 2026-01-15',
  min_length: (issue) => `must have at least ${sizeWords(issue)}`,
  max_length: (issue) => `must have at most ${sizeWords(issue)}`,
  min_value: ({ requirement }) => `must be at least ${requirement}`,
  max_value: ({ requirement }) => `must be at most ${requirement}`,
  regex: () => 'has the wrong form',
  url: () => 'must be a URL',
  uuid: () => 'must be a UUID',
}

function sizeWords({ input, requirement }: v.BaseIssue<unknown>): string {
  const [one, many] = Array.isArray(input) ? ['entry', 'entries'] : ['character', 'characters']
  return `${requirement} ${requirement === 1 ? one : many}`
}

const TYPES: Readonly<Record<string, string>> = {
  Array: 'a list',
  Object: 'an object',
  boolean: 'true or false',
  null: 'null',
  number: 'a number',
  string: 'a text',
}

/** Turns valibot's notation of a type, such as `("secret" | "publishable")`, into words. */
function typeWords(expected: string | null): string {
  const parts = (expected ?? 'valid').replace(/^\((.*)\)$/, '$1').split(' | ')
  return parts.map((part) => TYPES[part] ?? part).join(' or ')
}

/** A request or a response. */
export interface Message {
  readonly headers: Pick<Headers, 'get'>
  readonly body: AsyncIterable<Uint8Array> | null
}

/**
 * Throws UNSUPPORTED_MEDIA_TYPE if the header Content-Encoding of a request names an encoding (RFC 9110, section
 * 15.5.16): no body is decoded.
 */
export function refuseEncoding(contentEncoding: string | null | undefined): void {
  const names = contentEncoding?.split(',').map((name) => name.trim().toLowerCase()) ?? []
  const encoding = names.find((name) => name !== '' && name !== 'identity')
  if (encoding === undefined) return
  const message = `Content-Encoding: the body must not be encoded, not as ${JSON.stringify(encoding.slice(0, 20))}`
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', message, {
    headers: { 'accept-encoding': 'identity' },
  })
}

/**
 * Reads a JSON body whatever its Content-Type says: beacons arrive as text/plain. Throws
 * PAYLOAD_TOO_LARGE above `maxBytes`, counted as the bytes arrive, and BAD_REQUEST if it is not JSON.
 */
export async function readJson(message: Message, maxBytes: number): Promise<unknown> {
  return parseJson(await readBytes(message, maxBytes))
}

/** Throws BAD_REQUEST if the bytes are not JSON in UTF-8. */
export function parseJson(bytes: string | Uint8Array): unknown {
  const text = typeof bytes === 'string' ? bytes : decodeUtf8(bytes)
  if (text === '') throw new ApiError('BAD_REQUEST', 'The body is empty')
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may contain a secret.
    throw new ApiError('BAD_REQUEST', 'The body is not JSON')
  }
}

/** Reads a body as text, with the errors of `readJson`. */
export async function readText(message: Message, maxBytes: number): Promise<string> {
  return decodeUtf8(await readBytes(message, maxBytes))
}

/** Reads a body. Throws PAYLOAD_TOO_LARGE above `maxBytes`, counted as the bytes arrive. */
export async function readBytes({ headers, body }: Message, maxBytes: number): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  try {
    return await join(body ?? [], maxBytes)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    // A client that disconnects midway is not a bug.
    throw new ApiError('BAD_REQUEST', 'The body ends early', { cause })
  }
}

/** Returns the whole body. Throws PAYLOAD_TOO_LARGE above `maxBytes`. */
export function limitBytes(body: Uint8Array, maxBytes: number): Uint8Array {
  if (body.length > maxBytes) throw tooLarge(maxBytes)
  return body
}

/** Joins chunks in one buffer: kept apart, chunks of one byte would take a hundred times that. */
async function join(chunks: AsyncIterable<Uint8Array> | [], maxBytes: number): Promise<Buffer> {
  let kept = Buffer.alloc(0)
  let bytes = 0
  for await (const chunk of chunks) {
    const end = bytes + chunk.byteLength
    if (end > maxBytes) throw tooLarge(maxBytes)
    if (end > kept.length) kept = Buffer.concat([kept], Math.max(end, 2 * bytes))
    kept.set(chunk, bytes)
    bytes = end
  }
  return kept.subarray(0, bytes)
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new ApiError('BAD_REQUEST', 'The body is not UTF-8', { cause })
  }
}
