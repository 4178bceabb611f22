import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { hasBody } from './connections.ts'

/** In milliseconds, as node:http has them. */
export interface FrontLimits {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly connectionsCheckingInterval: number
}

/** What a connection is waited for: a head, a body, our answer, or another request. */
interface Wait {
  for: 'head' | 'body' | 'answer' | 'next'
  /** Monotonic milliseconds; of a body those of its head. */
  since: number
  /** Bytes that had been sent then. */
  written: number
  /** Requests whose body has not come whole, and those that are not answered: some send many at once. */
  unread: number
  unanswered: number
}

/**
 * Lets `server` take its connections from a server of node:net, as it may on every runtime
 * (`server.emit('connection', socket)`). Bun reads those as Node.js reads all, where
 * `lib/plain-connections.ts` can see it, but has no time-outs for them: they are kept here.
 */
export function listenByNet(server: Server, limits: FrontLimits): void {
  const waits = new Map<Socket, Wait>()
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const since = performance.now()
    const wait: Wait = { for: 'head', since, written: 0, unread: 0, unanswered: 0 }
    waits.set(socket, wait)
    socket.once('close', () => waits.delete(socket))
    server.emit('connection', socket)
    socket.prependListener('data', () => {
      if (wait.for === 'next') start(socket, wait, 'head')
    })
  })
  const follow = (request: IncomingMessage, response: ServerResponse) => {
    const wait = waits.get(request.socket)
    if (wait !== undefined) followRequest(wait, request, response)
  }
  server.on('request', follow)
  server.on('checkExpectation', follow)
  front.on('error', (error) => server.emit('error', error))
  // Of all that node:net takes, `lib/listen.ts` asks for this form alone.
  server.listen = (port?: unknown, host?: unknown, done?: unknown) => {
    front.listen(Number(port), String(host), () => typeof done === 'function' && done())
    return server
  }
  server.address = () => front.address()
  server.close = (done) => {
    front.close(done)
    return server
  }
  const check = setInterval(() => {
    for (const [socket, wait] of waits) {
      const end = endOf(socket, wait, limits)
      if (end === 'closed') socket.destroy()
      if (end === 'refused') server.emit('clientError', requestTimeout(), socket)
    }
  }, limits.connectionsCheckingInterval)
  check.unref()
  front.once('close', () => {
    clearInterval(check)
    server.emit('close')
  })
}

function start({ bytesWritten }: Socket, wait: Wait, what: Wait['for']): void {
  wait.for = what
  wait.since = performance.now()
  wait.written = bytesWritten
}

function followRequest(wait: Wait, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  const settle = () => {
    if (wait.unread > 0) wait.for = 'body'
    else if (wait.unanswered > 0) wait.for = 'answer'
    else start(socket, wait, 'next')
  }
  wait.unanswered += 1
  if (hasBody(request)) {
    wait.unread += 1
    request.once('end', () => {
      wait.unread -= 1
      settle()
    })
  }
  settle()
  response.once('finish', () => {
    wait.unanswered -= 1
    settle()
    if (isLast(request)) socket.destroySoon()
  })
}

/** Whether the client wants the connection closed: Bun closes its own half alone. */
function isLast({ headers, httpVersion }: IncomingMessage): boolean {
  const wish = headers.connection?.toLowerCase()
  return wish === 'close' || (httpVersion === '1.0' && wish !== 'keep-alive')
}

type End = 'refused' | 'closed'

/** What becomes of a connection that has been waited for too long; undefined: it has not. */
function endOf(socket: Socket, wait: Wait, limits: FrontLimits): End | undefined {
  // Answered past node:http, which tells nobody.
  if (wait.for === 'head' && socket.bytesWritten > wait.written) start(socket, wait, 'next')
  const waited = performance.now() - wait.since
  switch (wait.for) {
    case 'head':
      return waited >= limits.headersTimeout ? 'refused' : undefined
    case 'body':
      return waited >= limits.requestTimeout ? 'refused' : undefined
    case 'next':
      return waited >= limits.keepAliveTimeout ? 'closed' : undefined
    case 'answer':
      return undefined
  }
}

/** As node:http calls it, which then leaves the rest to `clientError`. */
function requestTimeout(): Error {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
}
