import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nameRuntime } from '../../config/runtime.ts'
import { keepAliveText } from '../http-limits.ts'
import { RelayedSocket } from '../threads/relayed-socket.ts'
import { type WholeAnswer, writeAnswer } from '../write-answer.ts'
import { Feed } from './feed.ts'
import { type RequestHead, RequestReader } from './plain-request.ts'
import { Turns } from './turns.ts'

export interface FastPathOptions {
  /** Returns null to leave the request to node:http. */
  readonly answer: (request: FastRequest) => WholeAnswer | null
  /** Called if `answer` throws, which is a bug; node:http then answers the request. */
  readonly onError: (error: unknown) => void
}

export interface FastRequest extends RequestHead {
  readonly socket: Pick<Socket, 'remoteAddress'>
}

/**
 * Answers plain GET requests of keep-alive connections directly from their bytes, which takes less
 * time than the parser, streams and response of node:http. All other requests go to node:http,
 * including the first of each connection: it makes node:http apply the keep-alive timeout from then
 * on.
 */
export function installFastPath(server: Server, options: FastPathOptions): void {
  const connections = new WeakMap<Duplex, KeepAliveConnection>()
  let isRelaying = false
  const batch = new AnswerBatch(keepAliveText(server.keepAliveTimeout), (sockets) => {
    // Only network threads need to know what is answered.
    if (isRelaying) noteAnswers(sockets, connections)
  })
  const turns = new Turns()
  server.on('connection', (socket: Socket | RelayedSocket) => {
    const [parse, ...others] = socket.listeners('data')
    // Bun reads connections differently: there, node:http answers everything.
    if (parse === undefined || others.length > 0) return
    isRelaying ||= socket instanceof RelayedSocket
    const feed = new Feed(socket, parse.bind(socket), turns)
    const connection = new KeepAliveConnection(feed, () => {
      if (socket instanceof RelayedSocket) socket.noteAnswered()
    })
    connections.set(socket, connection)
    takeOverReading(socket)
    socket.on('data', (chunk: Buffer) => {
      const head = canSend(socket) ? connection.readGet(chunk) : null
      const answer = head === null ? null : tryAnswer(options, head, socket)
      if (answer !== null) return batch.write(socket, answer)
      connection.pass(chunk)
    })
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    connections.get(request.socket)?.watch(request, response),
  )
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  // node:http considers a connection idle even if an answer of this file waits to be sent.
  server.closeIdleConnections = () => {
    batch.send()
    closeIdleConnections()
  }
}

function noteAnswers(
  sockets: readonly Duplex[],
  connections: WeakMap<Duplex, KeepAliveConnection>,
): void {
  for (const socket of sockets) {
    if (socket instanceof RelayedSocket) connections.get(socket)?.noteAnswer()
  }
}

/** Returns null to leave the request to node:http. */
export function tryAnswer(
  { answer, onError }: FastPathOptions,
  { url, headers }: RequestHead,
  socket: FastRequest['socket'],
): WholeAnswer | null {
  try {
    return answer({ url, headers, socket })
  } catch (error) {
    onError(error)
    return null
  }
}

/** `parser` is set by node:http. */
type ParsedSocket = Duplex & { readonly parser?: { unconsume?(): void } | null }

/** Node.js itself detaches the parser once there is a listener for data. Deno does not. */
function takeOverReading(socket: ParsedSocket): void {
  if (nameRuntime(process.versions) === 'deno') socket.parser?.unconsume?.()
  socket.removeAllListeners('data')
}

/** Whether the client has read all earlier answers. If not, node:http serves it, and pauses reading. */
function canSend({ writable, writableLength }: Duplex): boolean {
  return writable && writableLength === 0
}

/** Follows the requests of a connection without access to the parser of node:http. */
class KeepAliveConnection {
  readonly #feed: Feed
  readonly #onIdle: () => void
  readonly #reader = new RequestReader()
  #isPlain = true
  /** Requests whose head node:http has parsed. */
  #parsed = 0
  /** Requests that node:http has read to the end and answered. */
  #done = 0

  /** `onIdle` is called whenever node:http has answered everything. */
  constructor(feed: Feed, onIdle: () => void) {
    this.#feed = feed
    this.#onIdle = onIdle
  }

  /** Returns the request if `chunk` is one that may be answered here. */
  readGet(chunk: Buffer): RequestHead | null {
    return this.#isIdle() ? this.#reader.readGet(chunk) : null
  }

  /** Passes `chunk` to node:http. */
  pass(chunk: Buffer): void {
    this.#isPlain &&= this.#reader.follow(chunk)
    this.#feed.push(chunk)
  }

  /** Notes that node:http has parsed the head of `request`. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    this.#parsed += 1
    this.#feed.watch(response)
    const finish = () => {
      this.#done += 1
      this.noteAnswer()
    }
    // An answer may be sent before the body has arrived.
    response.once('finish', () => (request.complete ? finish() : request.once('end', finish)))
  }

  /** Notes that an answer is sent. */
  noteAnswer(): void {
    if (this.#isIdle()) this.#onIdle()
  }

  /**
   * Whether node:http has parsed and answered everything that it was given: it must have counted as
   * many requests as we have.
   */
  #isIdle(): boolean {
    const { followed, isBetweenRequests } = this.#reader
    const isDone = followed > 0 && this.#parsed === followed && this.#done === followed
    return this.#isPlain && isBetweenRequests && isDone
  }
}

/** Sends all answers of one turn of the event loop at its end. */
export class AnswerBatch {
  readonly #connection: string
  readonly #onSent: (sockets: readonly Duplex[]) => void
  #sockets: Duplex[] = []

  constructor(connection: string, onSent: (sockets: readonly Duplex[]) => void = () => {}) {
    this.#connection = connection
    this.#onSent = onSent
  }

  write(socket: Duplex, answer: WholeAnswer): void {
    if (this.#sockets.length === 0) setImmediate(() => this.send())
    this.#sockets.push(socket)
    socket.cork()
    writeAnswer(socket, answer, this.#connection)
  }

  send(): void {
    const sockets = this.#sockets
    this.#sockets = []
    for (const socket of sockets) socket.uncork()
    this.#onSent(sockets)
  }
}
