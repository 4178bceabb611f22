/** What is read of a GET request. Names of headers are in lower case. */
export interface RequestHead {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Longer ones are rare, and a connection keeps the text of its headers. */
const MOST_BYTES = 2_048
const REQUEST_LINE = /^GET (\/[!-~]*) HTTP\/1\.1\r\n/
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): ([!-~](?:[ -~]*[!-~])?)$/
const END = '\r\n\r\n'

/** Headers that say where a request ends, or what becomes of its connection. */
const FRAMING = new Set([
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Reads the requests of one connection that come whole and plainly written: a subset of HTTP/1.1
 * that no two readers understand otherwise. The headers of a connection are mostly the same in each
 * request; then they are compared, not read.
 */
export class PlainReader {
  #text = ''
  #headers: RequestHead['headers'] = {}

  /** null: `chunk` is not just one plain request. */
  read(chunk: Buffer): RequestHead | null {
    if (chunk.length > MOST_BYTES) return null
    const text = chunk.toString('latin1')
    const [line, url] = REQUEST_LINE.exec(text) ?? []
    if (line === undefined || url === undefined) return null
    const rest = text.slice(line.length)
    if (rest !== this.#text) {
      const headers = readHeaders(rest)
      if (headers === null) return null
      this.#text = rest
      this.#headers = headers
    }
    return { url, headers: this.#headers }
  }
}

function readHeaders(text: string): RequestHead['headers'] | null {
  if (!text.endsWith(END)) return null
  const headers: Record<string, string> = {}
  for (const line of text.slice(0, -END.length).split('\r\n')) {
    const [, given = '', value = ''] = HEADER.exec(line) ?? []
    const name = given.toLowerCase()
    if (!isPlain(name, value) || Object.hasOwn(headers, name)) return null
    headers[name] = value
  }
  return headers
}

function isPlain(name: string, value: string): boolean {
  if (name === 'connection') return value.toLowerCase() === 'keep-alive'
  return name !== '' && !FRAMING.has(name)
}
