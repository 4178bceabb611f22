import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { PlainReader, type RequestHead } from './plain-request.ts'
import { nameRuntime } from './runtime.ts'
import { type WholeAnswer, writeAnswer } from './write-answer.ts'

interface PlainRequest extends RequestHead {
  readonly socket: Socket
}

export interface PlainOptions {
  /** null: the request is for node:http. */
  readonly answer: (request: PlainRequest) => WholeAnswer | null
  /** Told of what `answer` throws, which is a bug; the request is for node:http then. */
  readonly onError: (error: unknown) => void
}

/**
 * Answers plain requests of kept connections from their bytes: parser, streams and response of
 * node:http would take longer than all that we do. Anything else is for node:http, and so is the
 * first request of a connection, which tells node:http that it is in use and may be idle for long.
 */
export function answerPlainRequests(server: Server, options: PlainOptions): void {
  const connections = new WeakMap<Socket, PlainConnection>()
  const batch = new Batch(`keep-alive\r\nKeep-Alive: timeout=${server.keepAliveTimeout / 1_000}`)
  server.on('connection', (socket: Socket) => {
    const [parse, ...others] = socket.listeners('data')
    // Other runtimes read connections in other ways.
    if (parse === undefined || others.length > 0) return
    const connection = new PlainConnection()
    connections.set(socket, connection)
    stopReading(socket)
    socket.removeAllListeners('data')
    socket.on('data', (chunk: Buffer) => {
      const head = connection.read(chunk)
      const answer = head !== null && canTake(socket) ? ask(options, head, socket) : null
      if (answer !== null) return batch.write(socket, answer)
      connection.leave()
      parse.call(socket, chunk)
    })
  })
  server.on('request', ({ socket }, response) => {
    const connection = connections.get(socket)
    if (connection !== undefined) response.once('finish', () => connection.finish())
  })
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  // To node:http they are idle, whatever waits to be sent.
  server.closeIdleConnections = () => {
    batch.send()
    closeIdleConnections()
  }
}

function ask(
  { answer, onError }: PlainOptions,
  { url, headers }: RequestHead,
  socket: Socket,
): WholeAnswer | null {
  try {
    return answer({ url, headers, socket })
  } catch (error) {
    onError(error)
    return null
  }
}

interface ReadByHttp extends Socket {
  /** Of node:http. */
  readonly parser?: { unconsume?(): void } | null
}

/** On Node.js the parser reads no more by itself once somebody listens; on Deno it has to be told. */
function stopReading({ parser }: ReadByHttp): void {
  if (nameRuntime(process.versions) === 'deno') parser?.unconsume?.()
}

/** Whether the client has taken what it was sent: else node:http knows when to stop reading. */
function canTake({ writable, writableLength }: Socket): boolean {
  return writable && writableLength === 0
}

/** What is known of a connection without looking into the parser of node:http. */
class PlainConnection {
  readonly #reader = new PlainReader()
  #isPlain = true
  /** Requests that were left to node:http, and those of them that it has answered. */
  #left = 0
  #finished = 0

  /**
   * Returns the request that may be answered here. Once a chunk was not just a plain request, where
   * the next request begins is known to the parser alone: nothing more is read here.
   */
  read(chunk: Buffer): RequestHead | null {
    if (!this.#isPlain) return null
    const head = this.#reader.read(chunk)
    this.#isPlain = head !== null
    return this.#left > 0 && this.#left === this.#finished ? head : null
  }

  leave(): void {
    this.#left += 1
  }

  finish(): void {
    this.#finished += 1
  }
}

/** Sends all answers of one turn of the event loop at its end, as `BatchedResponse` does. */
class Batch {
  readonly #connection: string
  #sockets: Socket[] = []

  constructor(connection: string) {
    this.#connection = connection
  }

  write(socket: Socket, answer: WholeAnswer): void {
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
