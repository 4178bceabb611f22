import * as v from 'valibot'
import { ApiError } from './errors.ts'

/** Returns `input` as the schema's output, or throws BAD_REQUEST naming the first bad field. */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues
  const field = v.getDotPath(issue)
  throw new ApiError('BAD_REQUEST', field === null ? issue.message : `${field}: ${issue.message}`)
}

/** A request or a response. */
type Message = Pick<Request, 'headers' | 'body'>

/**
 * Reads a JSON body whatever its Content-Type says: beacons arrive as text/plain. Throws
 * PAYLOAD_TOO_LARGE above `maxBytes`, counted as the bytes arrive, and BAD_REQUEST for no JSON.
 */
export async function readJson(message: Message, maxBytes: number): Promise<unknown> {
  return parseJson(await readBytes(message, maxBytes))
}

/** Throws BAD_REQUEST for what is no JSON in UTF-8. */
export function parseJson(bytes: string | Uint8Array): unknown {
  const text = typeof bytes === 'string' ? bytes : decodeUtf8(bytes)
  try {
    return JSON.parse(text)
  } catch {
    // The error of the parser quotes the text, which may hold a secret.
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
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throw endsEarly(cause)
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes)
  return Buffer.concat(chunks)
}

/** A request of node:http, as far as it is read. */
export interface Incoming {
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What `readBytes` does, for a request of node:http: to wrap it would take longer than to read it. */
export function readIncoming(incoming: Incoming, maxBytes: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const chunks: Uint8Array[] = []
  let bytes = 0
  let ended = false
  incoming.on('data', (chunk) => {
    bytes += chunk.byteLength
    // The rest is read and forgotten.
    if (bytes <= maxBytes) chunks.push(chunk)
    else if (bytes - chunk.byteLength <= maxBytes) reject(tooLarge(maxBytes))
  })
  incoming.on('end', () => {
    ended = true
    resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  })
  incoming.on('error', (cause) => reject(endsEarly(cause)))
  incoming.on('close', () => {
    if (!ended) reject(endsEarly(undefined))
  })
  return promise
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes`)
}

/** A client that hangs up in the middle is no bug of ours. */
function endsEarly(cause: unknown): ApiError {
  return new ApiError('BAD_REQUEST', 'The body ends early', { cause })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new ApiError('BAD_REQUEST', 'The body is not UTF-8', { cause })
  }
}
