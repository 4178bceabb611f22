import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nameRuntime } from '../../config/runtime.ts'
import { failed } from '../answer-parsed.ts'
import { keepAliveText } from '../http-limits.ts'
import { createPerConnection } from '../per-connection.ts'
import type { AnswerWhole } from '../whole-request.ts'
import { type WholeAnswer, writeAnswer } from '../write-answer.ts'
import { END, Feed } from './feed.ts'
import { KeepAliveConnection } from './keep-alive-connection.ts'
import { GetReader, type PlainRequest, RequestReader } from './plain-request.ts'
import { Turns } from './turns.ts'

/**
 * Answers plain requests of keep-alive connections directly from their bytes, which takes less time
 * than the parser, streams and response of node:http, and requests that are the only one of their connection. All
 * other requests go to node:http, including the first of each connection that is kept: it makes node:http apply
 * the keep-alive timeout from then on. Most of what a connection needs here is made for its second request, which
 * many never send.
 */
export function installFastPath(server: Server, options: AnswerWhole): void {
  const batch = new AnswerBatch(keepAliveText(server.keepAliveTimeout))
  const turns = new Turns()
  const path = new FastPath(options, batch, turns)
  server.on('connection', (socket: Socket) => {
    // safe: node:http has bound its listener, which takes a chunk
    const [parse, ...others] = socket.listeners('data') as Parse[]
    // Bun reads connections differently: there, node:http answers everything.
    if (parse === undefined || others.length > 0) return
    takeOverReading(socket, parse)
    states.set(socket, new FirstRequest(parse))
    socket.on('data', onData)
  })
  function onData(this: Socket, chunk: Buffer): void {
    const state = states.get(this)
    if (state instanceof KeepAliveConnection) path.take(chunk, state)
    // Bytes that follow are dropped.
    else if (state?.hasBegun === false && path.takeOnly(chunk, this, state.parse))
      states.set(this, undefined)
    else if (state?.take(chunk, turns) === false) {
      const connection = setUp(this, state)
      states.set(this, connection)
      path.take(chunk, connection)
    }
  }
  const setUp = (socket: Socket, first: FirstRequest) => {
    const reader = new RequestReader(options.takesPost)
    const feed = new Feed(socket, first.parse, turns)
    const connection = new KeepAliveConnection(socket, feed, reader)
    first.hand(connection)
    return connection
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const state = states.get(request.socket)
    if (state === undefined) return
    turns.count()
    state.watch(request, response)
  })
  // With a listener, node:http itself closes no connection that was idle for too long.
  server.on('timeout', (socket: Socket) => {
    if (!path.waiting.has(socket)) socket.destroy()
  })
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  // node:http considers a connection idle even if an answer of this file waits to be made or sent.
  server.closeIdleConnections = () => {
    batch.send()
    closeAllBut(path.waiting, closeIdleConnections)
  }
}

/** What is known about the requests of a connection. */
const states = createPerConnection<FirstRequest | KeepAliveConnection>()

/** Larger first requests are not kept until the second. */
const LARGE_HEAD = 2_048

/** Passes bytes to node:http. */
type Parse = (chunk: Buffer) => void

/** The first request of a connection, if it is the only one in its chunk. */
class FirstRequest {
  readonly parse: Parse
  #chunk: Buffer | null = null
  #exchange: [IncomingMessage, ServerResponse] | null = null

  constructor(parse: Parse) {
    this.parse = parse
  }

  /** Whether node:http has got a chunk. */
  get hasBegun(): boolean {
    return this.#chunk !== null
  }

  /** Returns false for a chunk that a `KeepAliveConnection` must take: a later one, or one that has to wait. */
  take(chunk: Buffer, turns: Turns): boolean {
    const end = chunk.indexOf(END)
    const isOne = end >= 0 && end === chunk.length - END.length && end < LARGE_HEAD
    if (!isOne || this.#chunk !== null || !turns.hasTime()) return false
    turns.begin()
    this.#chunk = chunk
    this.parse(chunk)
    return true
  }

  watch(...exchange: [IncomingMessage, ServerResponse]): void {
    this.#exchange = exchange
  }

  /** Tells `connection` what it has to know for the next request. */
  hand(connection: KeepAliveConnection): void {
    if (this.#chunk !== null) connection.follow(this.#chunk)
    if (this.#exchange !== null) connection.watch(...this.#exchange)
  }
}

/**
 * Keeps node:http from closing the connection of a client that has sent everything and waits for its answer
 * (RFC 9112, section 9.6). The returned function lets it close again.
 */
function holdEnds(socket: Socket): () => void {
  const listeners = socket.listeners('end')
  socket.removeAllListeners('end')
  return () => {
    // safe: they were listeners of this event
    for (const listener of listeners) socket.on('end', listener as () => void)
  }
}

/** Runs `close`, but keeps it from closing any of the sockets. */
function closeAllBut(sockets: Iterable<Duplex>, close: () => void): void {
  for (const socket of sockets) socket.destroy = () => socket
  close()
  // Uncovers the method of the prototype again.
  for (const socket of sockets) Reflect.deleteProperty(socket, 'destroy')
}

class FastPath {
  readonly #options: AnswerWhole
  readonly #batch: AnswerBatch
  readonly #turns: Turns
  readonly #onlyRequests = new GetReader('close')
  /** The connections that wait for their turn or for an answer. */
  readonly waiting = new Set<Duplex>()

  constructor(options: AnswerWhole, batch: AnswerBatch, turns: Turns) {
    this.#options = options
    this.#batch = batch
    this.#turns = turns
  }

  /** Answers the request in `chunk`, or passes it to node:http. */
  take(chunk: Buffer, connection: KeepAliveConnection): void {
    if (connection.hold(chunk)) return
    const request = canSend(connection.socket) ? connection.read(chunk) : null
    if (request === null) connection.pass(chunk)
    // POSTs take longer than look-ups, which therefore wait for only a few of them.
    else if (request.body === null || this.#turns.hasRoom()) {
      this.#answer(request, chunk, connection)
    } else {
      const end = this.#wait(connection)
      this.#turns.waitFirst(() => end(() => this.#answer(request, chunk, connection)))
    }
  }

  /** If `chunk` is the only request of its connection, answers it or lets it wait for its turn. Returns whether it did. */
  takeOnly(chunk: Buffer, socket: Socket, parse: Parse): boolean {
    const request = this.#onlyRequests.read(chunk)
    if (request === null) return false
    if (this.#turns.hasTime()) return this.#answerOnly(request, socket)
    this.waiting.add(socket)
    const letEnd = holdEnds(socket)
    this.#turns.waitFirst(() => {
      this.waiting.delete(socket)
      letEnd()
      if (!socket.writable || this.#answerOnly(request, socket)) return
      this.#turns.count()
      parse(chunk)
    })
    return true
  }

  /** Returns false to leave the request to node:http. */
  #answerOnly(request: PlainRequest, socket: Socket): boolean {
    this.#turns.begin()
    const answer = this.#tryAnswer(request, socket)
    // Only the answer to a request with a body may come later.
    if (answer === null || answer instanceof Promise) return false
    // The system takes an answer of a few kilobytes at once: node:http would close the connection after 8 seconds.
    writeAnswer(socket, answer, 'close')
    // Nothing is left to send. Clients that go on sending, which they must not, may see a reset: RFC 9112, section 9.6.
    if (socket.writableLength === 0) socket.destroy()
    else socket.destroySoon()
    return true
  }

  /** A request counts even if its client has left: a beacon must still be stored. */
  #answer(request: PlainRequest, chunk: Buffer, connection: KeepAliveConnection): void {
    const { socket } = connection
    if (request.body !== null) this.#turns.count()
    const answer = this.#tryAnswer(request, socket)
    if (answer instanceof Promise) void this.#sendLater(answer, connection)
    else if (!socket.writable) return
    else if (answer === null) connection.pass(chunk)
    else this.#batch.write(socket, answer)
  }

  /** Returns null to leave the request to node:http. */
  #tryAnswer(
    { method, url, headers, body }: PlainRequest,
    socket: Socket,
  ): ReturnType<AnswerWhole['answer']> {
    const { answer, onError } = this.#options
    try {
      return answer({ method, url, headers, body, socket })
    } catch (error) {
      onError(error)
      failed.set(socket, true)
      return null
    }
  }

  async #sendLater(promise: Promise<WholeAnswer>, connection: KeepAliveConnection): Promise<void> {
    const { socket } = connection
    const end = this.#wait(connection)
    const answer = await this.#settle(promise)
    end(() => {
      if (answer === null) socket.destroy()
      else if (socket.writable) this.#batch.write(socket, answer)
    })
  }

  /** Lets the connection wait. The returned function ends that: it calls `next`, and takes what has arrived meanwhile. */
  #wait(connection: KeepAliveConnection): (next: () => void) => void {
    const { socket } = connection
    this.waiting.add(socket)
    connection.wait()
    return (next) => {
      this.waiting.delete(socket)
      const held = connection.endWait()
      next()
      if (socket.writable && held !== null) this.take(held, connection)
    }
  }

  async #settle(promise: Promise<WholeAnswer>): Promise<WholeAnswer | null> {
    try {
      return await promise
    } catch (error) {
      this.#options.onError(error)
      return null
    }
  }
}

const IS_DENO = nameRuntime(process.versions) === 'deno'

/** `parser` is set by node:http. */
type ParsedSocket = Duplex & { readonly parser?: { unconsume?(): void } | null }

/** Node.js itself detaches the parser once there is a listener for data. Deno does not. */
function takeOverReading(socket: ParsedSocket, parse: Parse): void {
  if (IS_DENO) socket.parser?.unconsume?.()
  // Removing them all would make the table of listeners slow.
  socket.removeListener('data', parse)
}

/** Whether the client has read all earlier answers. If not, node:http serves it, and pauses reading. */
function canSend({ writable, writableLength }: Duplex): boolean {
  return writable && writableLength === 0
}

/** Sends all answers of one turn of the event loop at its end. */
class AnswerBatch {
  readonly #connection: string
  #sockets: Duplex[] = []

  constructor(connection: string) {
    this.#connection = connection
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
  }
}
