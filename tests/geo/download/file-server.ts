import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

export interface ServedFile {
  readonly bytes: Uint8Array
  readonly etag?: string
  readonly lastModified?: string
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export interface FileServer extends AsyncDisposable {
  readonly origin: string
  /** By path and query. */
  readonly files: Map<string, ServedFile>
  /** Answers that are not files: what it returns true for is answered. */
  intercept: (asked: Asked, response: ServerResponse) => boolean
  /** Bytes of a body that are sent before the server falls silent. */
  silentAfter: number
  /** Requests so far, oldest first. */
  readonly asked: Asked[]
  /** Cuts the connections that are open. */
  cut(): void
}

/** Serves files on loopback as RFC 9110 says, with conditions and ranges. */
export async function openFileServer(): Promise<FileServer> {
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const asked = { method, url, headers }
    self.asked.push(asked)
    if (self.intercept(asked, response)) return
    const file = self.files.get(asked.url)
    if (file === undefined) response.writeHead(404).end('not here')
    else answer(file, asked, response, self.silentAfter)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const self: FileServer = {
    origin: `http://127.0.0.1:${port}`,
    files: new Map(),
    intercept: () => false,
    silentAfter: Number.POSITIVE_INFINITY,
    asked: [],
    cut: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return self
}

function answer(
  file: ServedFile,
  { method, headers }: Asked,
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

/** Where to start: 0 too where If-Range names another version; weak tags never match. */
function rangeStart({ etag, lastModified }: ServedFile, headers: IncomingHttpHeaders): number {
  const start = /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]
  const ifRange = headers['if-range']
  if (start === undefined) return 0
  const matches = (ifRange === etag && !etag?.startsWith('W/')) || ifRange === lastModified
  return ifRange === undefined || matches ? Number(start) : 0
}
