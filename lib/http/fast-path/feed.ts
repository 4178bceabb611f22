import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nameRuntime } from '../../config/runtime.ts'
import { whenAnswered } from '../when-answered.ts'

/**
 * The most unanswered requests of a connection. Reading pauses while there are more than half as many,
 * since one slice may hold the other half.
 */
export const MOST_UNANSWERED = 16

/** Fewer than nine requests fit into so few bytes; longer requests are passed on whole. */
const SLICE_BYTES = 128
/**
 * Deno reads from other connections only while no timer is due. So on Deno the pause is longer than
 * it takes to answer the requests that a flood sends at once.
 */
const PAUSE_MS = nameRuntime(process.versions) === 'deno' ? 20 : 0
const EMPTY = Buffer.alloc(0)
const END = '\r\n\r\n'

/**
 * `_paused`: the client does not read; node:http asserts that it gets no bytes until it resumes.
 * `parser`: null after CONNECT, when the parser reads other connections.
 */
type HttpSocket = Socket & { readonly _paused?: boolean; readonly parser?: object | null }

/**
 * Passes the bytes of one connection to node:http, a few requests at a time. node:http starts all
 * requests that it gets at once: two thousand fit into 64 KB, and all their answers would be in
 * memory together.
 */
export class Feed {
  readonly #socket: HttpSocket
  readonly #parse: (chunk: Buffer) => void
  #rest: Buffer = EMPTY
  #unanswered = 0
  #isFeeding = false
  #hasTurn = false
  #isPaused = false

  constructor(socket: Socket, parse: (chunk: Buffer) => void) {
    this.#socket = socket
    this.#parse = parse
    // node:http resumes reading when the client has read enough.
    socket.on('resume', () => this.#feed())
  }

  push(chunk: Buffer): void {
    if (this.#socket.parser === null) return
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#feed()
  }

  /** Notes that node:http has parsed a request and will answer it with `response`. */
  watch(response: ServerResponse): void {
    this.#unanswered += 1
    whenAnswered(response, () => {
      this.#unanswered -= 1
      if (this.#rest.length > 0) this.#takeTurn()
    })
  }

  /** Continues after other connections have been served. */
  #takeTurn(): void {
    if (this.#hasTurn) return
    this.#hasTurn = true
    setTimeout(() => {
      this.#hasTurn = false
      this.#feed()
    }, PAUSE_MS)
  }

  #feed(): void {
    if (this.#isFeeding) return
    this.#isFeeding = true
    while (this.#rest.length > 0 && this.#socket.writable && this.#hasRoom()) {
      const end = this.#rest.indexOf(END, SLICE_BYTES - END.length)
      const slice = end < 0 ? this.#rest : this.#rest.subarray(0, end + END.length)
      this.#rest = this.#rest.subarray(slice.length)
      this.#parse(slice)
      if (this.#socket.parser === null) this.#rest = EMPTY
    }
    this.#isFeeding = false
    this.#pauseOrResume()
  }

  #hasRoom(): boolean {
    return this.#unanswered <= MOST_UNANSWERED / 2 && this.#socket._paused !== true
  }

  #pauseOrResume(): void {
    const isWaiting = this.#rest.length > 0
    if (isWaiting) this.#socket.pause()
    else if (this.#isPaused && this.#socket._paused !== true) this.#socket.resume()
    this.#isPaused = isWaiting
  }
}
