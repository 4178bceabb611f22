import type { RequestHead, WholeRequest } from '../whole-request.ts'

/** A request that is one chunk. */
export type PlainRequest = Omit<WholeRequest, 'socket'>

/** Look-ups are shorter than this, and each connection remembers the text of its last headers. */
const MAX_GET_BYTES = 2_048
/** More than a beacon and its head need. */
const MAX_POST_BYTES = 8_192
const POST_BEGIN = 'P'.charCodeAt(0)
const GET_LINE = /^GET (\/[!-~]*) HTTP\/1\.1\r\n/
const CLOSING_GET_LINE = /^GET (\/[!-~]*) HTTP\/1\.[01]\r\n/
const POST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/
const REQUEST_LINE = /^[A-Z]+(?:-[A-Z]+)? [!-~]+ HTTP\/1\.1$/
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): ([!-~](?:[ -~]*[!-~])?)$/
const LENGTH = /^\d{1,15}$/
const END = '\r\n\r\n'

/** Headers that change where a request ends or what happens to its connection. */
const SPECIAL_HEADERS = new Set(['expect', 'proxy-connection', 'transfer-encoding', 'upgrade'])

/**
 * Reads the requests of one connection as long as all are plainly written: in a subset of HTTP/1.1
 * that all parsers read the same way. The caller passes every chunk that it does not answer to `follow`.
 */
export class RequestReader {
  readonly #gets = new GetReader('keep-alive')
  #bodyBytesLeft = 0
  #followed = 0
  readonly #takesPost: (url: string) => boolean

  /** `takesPost`: whether a POST to this URL may be answered here. */
  constructor(takesPost: (url: string) => boolean = () => true) {
    this.#takesPost = takesPost
  }

  /** Requests in the chunks passed to `follow`. */
  get followed(): number {
    return this.#followed
  }

  /** Whether the next byte begins a request. */
  get isBetweenRequests(): boolean {
    return this.#bodyBytesLeft === 0
  }

  /** Returns the request if `chunk` is exactly one GET without a body or one POST with its body, null otherwise. */
  read(chunk: Buffer): PlainRequest | null {
    return chunk[0] === POST_BEGIN ? this.#readPost(chunk) : this.#gets.read(chunk)
  }

  /**
   * Counts the requests and body bytes of a chunk that node:http parses. Returns false if the chunk
   * is not plainly written: from then on only the parser knows where the next request begins.
   */
  follow(chunk: Buffer): boolean {
    let at = this.#skipBody(chunk, 0)
    while (at < chunk.length) {
      const end = chunk.indexOf(END, at)
      const bodyBytes = end < 0 ? null : readBodyBytes(chunk.toString('latin1', at, end))
      if (bodyBytes === null) return false
      this.#followed += 1
      this.#bodyBytesLeft = bodyBytes
      at = this.#skipBody(chunk, end + END.length)
    }
    return true
  }

  /** Returns the index at which the body or the chunk ends. */
  #skipBody(chunk: Buffer, at: number): number {
    const bytes = Math.min(this.#bodyBytesLeft, chunk.length - at)
    this.#bodyBytesLeft -= bytes
    return at + bytes
  }

  /** Proxies send other headers with each POST, so these are always parsed. */
  #readPost(chunk: Buffer): PlainRequest | null {
    const end = chunk.length > MAX_POST_BYTES ? -1 : chunk.indexOf(END)
    if (end < 0) return null
    const [line = '', ...lines] = chunk.toString('latin1', 0, end).split('\r\n')
    const url = POST_LINE.exec(line)?.[1]
    if (url === undefined || !this.#takesPost(url)) return null
    const headers = readHeaders(lines)
    const body = chunk.subarray(end + END.length)
    const length = headers?.['content-length'] ?? ''
    if (headers === null || !LENGTH.test(length) || Number(length) !== body.length) return null
    return { method: 'POST', url, headers, body }
  }
}

/** Reads GETs without a body. Clients mostly repeat their headers: headers equal to the last ones are not parsed again. */
export class GetReader {
  readonly #connection: 'keep-alive' | 'close'
  readonly #line: RegExp
  #headerText: string | undefined
  #headers: RequestHead['headers'] | null = null

  /** `connection`: what becomes of the connections of the requests that are read. */
  constructor(connection: 'keep-alive' | 'close') {
    this.#connection = connection
    this.#line = connection === 'close' ? CLOSING_GET_LINE : GET_LINE
  }

  /** Returns the request if `chunk` is exactly one GET, plainly written, null otherwise. */
  read(chunk: Buffer): PlainRequest | null {
    if (chunk.length > MAX_GET_BYTES) return null
    const text = chunk.toString('latin1')
    const [line, url] = this.#line.exec(text) ?? []
    if (line === undefined || url === undefined) return null
    const headerText = text.slice(line.length)
    if (headerText !== this.#headerText) {
      this.#headers = this.#readHeaders(headerText)
      this.#headerText = headerText
    }
    return this.#headers === null
      ? null
      : { method: 'GET', url, headers: this.#headers, body: null }
  }

  #readHeaders(text: string): RequestHead['headers'] | null {
    if (!text.endsWith(END)) return null
    const headers = readHeaders(text.slice(0, -END.length).split('\r\n'), this.#connection)
    if (headers?.['content-length'] !== undefined) return null
    // Without this header, connections of HTTP/1.1 are kept.
    return this.#connection === 'close' && headers?.['connection'] === undefined ? null : headers
  }
}

/** Returns the length of the body that follows `head`; null if `head` is not plainly written. */
function readBodyBytes(head: string): number | null {
  const [line = '', ...lines] = head.split('\r\n')
  const headers = REQUEST_LINE.test(line) ? readHeaders(lines) : null
  if (headers === null) return null
  const length = headers['content-length'] ?? '0'
  return LENGTH.test(length) ? Number(length) : null
}

/** Returns null if a header is repeated, oddly written or special, or if Connection is not `connection`. */
function readHeaders(
  lines: readonly string[],
  connection = 'keep-alive',
): RequestHead['headers'] | null {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, writtenName = '', value = ''] = HEADER.exec(line) ?? []
    const name = writtenName.toLowerCase()
    if (!isPlain(name) || Object.hasOwn(headers, name)) return null
    if (name === 'connection' && value.toLowerCase() !== connection) return null
    headers[name] = value
  }
  return headers
}

function isPlain(name: string): boolean {
  return name !== '' && !SPECIAL_HEADERS.has(name)
}
