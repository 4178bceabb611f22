import type { Socket } from 'node:net'
import { type PlainRequest, RequestReader } from '../fast-path/plain-request.ts'
import { type Command, type ConnectionError, type ConnectionEvent, ownBytes } from './messages.ts'

export interface ConnectionOptions {
  /** Reports to the thread that has the server. */
  readonly report: (event: ConnectionEvent) => void
  /** Answers a plain request; false: the thread that has the server must answer it. */
  readonly answer: (socket: Socket, head: PlainRequest) => boolean
}

/** How many bytes may wait for the other thread before reading pauses. */
const MAX_UNTAKEN = 64 * 1024

/**
 * A client's connection in a network thread. It answers plain requests if it may, and passes the bytes of all
 * others to the thread that has the server.
 */
export class ClientConnection {
  readonly #id: number
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #reader = new RequestReader()
  /** How many bytes this connection has reported to the other thread. */
  #reported = 0
  /** How many of them the other thread has answered; -1: it has not reported any. */
  #answered = -1
  /** How many of them the other thread has yet to take. */
  #untaken = 0
  #isPaused = false

  constructor(id: number, socket: Socket, options: ConnectionOptions) {
    this.#id = id
    this.#socket = socket
    this.#options = options
    const { report } = options
    const { remoteAddress, remotePort } = socket
    let error: ConnectionError | null = null
    report({ id, kind: 'opened', remoteAddress, remotePort })
    socket.on('data', (chunk: Buffer) => this.#arrive(chunk))
    socket.on('end', () => report({ id, kind: 'ended' }))
    socket.on('timeout', () => report({ id, kind: 'timed-out' }))
    socket.on('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      error = { code, message }
    })
    socket.on('close', () => report({ id, kind: 'closed', error }))
  }

  obey(command: Command): void {
    const socket = this.#socket
    switch (command.kind) {
      case 'write':
        socket.write(command.bytes, (error) => {
          if (error == null) this.#options.report({ id: this.#id, kind: 'written' })
        })
        return
      case 'end':
        socket.end()
        return
      case 'destroy':
        socket.destroy()
        return
      case 'reset':
        socket.resetAndDestroy()
        return
      case 'taken':
        this.#untaken -= command.count
        this.#pauseOrResume()
        return
      case 'answered':
        this.#answered = command.count
        return
      case 'set-timeout':
        socket.setTimeout(command.ms)
        return
    }
  }

  #arrive(chunk: Buffer): void {
    const head = this.#mayAnswer() ? this.#reader.readGet(chunk) : null
    if (head !== null && this.#options.answer(this.#socket, head)) return
    this.#reported += chunk.length
    this.#untaken += chunk.length
    this.#options.report({ id: this.#id, kind: 'read', bytes: ownBytes(chunk) })
    this.#pauseOrResume()
  }

  /** Whether all earlier requests are answered, and the client has read the answers. */
  #mayAnswer(): boolean {
    const { writable, writableLength } = this.#socket
    return this.#answered === this.#reported && writable && writableLength === 0
  }

  #pauseOrResume(): void {
    const mustPause = this.#untaken > MAX_UNTAKEN
    if (mustPause === this.#isPaused) return
    this.#isPaused = mustPause
    if (mustPause) this.#socket.pause()
    else this.#socket.resume()
  }
}
