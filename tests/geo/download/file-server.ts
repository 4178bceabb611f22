import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { startLoopbackServer } from '../../support/loopback-server.ts'

export interface ServedFile {
  readonly bytes: Uint8Array
  readonly etag?: string
  readonly lastModified?: string
}

interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export interface FileServer extends AsyncDisposable {
  readonly origin: string
  /** By path and query. */
  readonly files: Map<string, ServedFile>
  /** Answers other than files: returns true if it has answered. */
  intercept: (recorded: RecordedRequest, response: ServerResponse) => boolean
  /** Bytes of a body that are sent before the server falls silent. */
  silentAfter: number
  /** Requests so far, oldest first. */
  readonly requests: RecordedRequest[]
  /** Cuts the connections that are open. */
  cut(): void
}

/** Serves files on loopback according to RFC 9110, with conditions and ranges. */
export async function openFileServer(): Promise<FileServer> {
  const loopback = await startLoopbackServer((request, response) => {
    const { method = '', url = '', headers } = request
    const recorded = { method, url, headers }
    self.requests.push(recorded)
    if (self.intercept(recorded, response)) return
    const file = self.files.get(recorded.url)
    if (file === undefined) response.writeHead(404).end('not here')
    else answer(file, recorded, response, self.silentAfter)
  })
  const self: FileServer = {
    origin: loopback.origin,
    files: new Map(),
    intercept: () => false,
    silentAfter: Number.POSITIVE_INFINITY,
    requests: [],
    cut: () => loopback.server.closeAllConnections(),
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  }
  return self
}

function answer(
  file: ServedFile,
  { method, headers }: RecordedRequest,
  response: ServerResponse,
  silentAfter: number,
): void {
  const { etag, lastModified } = file
  if (etag !== undefined) response.setHeader('etag', etag)
  if (lastModified !== undefined) response.setHeader('last-modified', lastModified)
  if (isFresh(file, headers['if-modified-since'])) {
    response.writeHead(304).end()
    return
  }
  const start = rangeStart(file, headers)
  const { length } = file.bytes
  if (start >= length) {
    response.writeHead(416, { 'content-range': `bytes */${length}` }).end()
    return
  }
  const body = file.bytes.subarray(start)
  response.setHeader('content-length', body.length)
  if (start > 0) response.setHeader('content-range', `bytes ${start}-${length - 1}/${length}`)
  response.writeHead(start > 0 ? 206 : 200)
  if (method === 'HEAD') response.end()
  else if (body.length <= silentAfter) response.end(body)
  else response.write(body.subarray(0, silentAfter))
}

function isFresh({ lastModified }: ServedFile, since: string | undefined): boolean {
  if (lastModified === undefined || since === undefined) return false
  return Date.parse(lastModified) <= Date.parse(since)
}

/** The first byte to send: 0 if If-Range names another version; weak tags never match. */
function rangeStart({ etag, lastModified }: ServedFile, headers: IncomingHttpHeaders): number {
  const start = /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]
  const ifRange = headers['if-range']
  if (start === undefined) return 0
  const matches = (ifRange === etag && !etag?.startsWith('W/')) || ifRange === lastModified
  return ifRange === undefined || matches ? Number(start) : 0
}
