import type { Duplex } from 'node:stream'
import type { Turns } from './turns.ts'

/**
 * The largest number of unanswered requests of a connection. Reading pauses above half of it, because one
 * slice may hold the other half.
 */
export const MAX_UNANSWERED = 16

/** Fewer than nine requests fit into this many bytes. Longer requests are passed on whole. */
const SLICE_BYTES = 128
const EMPTY = Buffer.alloc(0)
/** The end of a head. */
export const END = '\r\n\r\n'

/**
 * `_paused`: the client does not read; node:http asserts that it gets no bytes until it resumes.
 * `parser`: null after CONNECT, when the parser reads other connections.
 */
type HttpSocket = Duplex & { readonly _paused?: boolean; readonly parser?: object | null }

/**
 * Passes the bytes of one connection to node:http, a few requests at a time. node:http starts all
 * requests that it gets at once: two thousand fit into 64 KB, and all their answers would be in
 * memory together.
 */
export class Feed {
  readonly #socket: HttpSocket
  readonly #parse: (chunk: Buffer) => void
  readonly #turns: Turns
  #rest: Buffer = EMPTY
  #unanswered = 0
  #isParsing = false
  #isPaused = false

  constructor(socket: Duplex, parse: (chunk: Buffer) => void, turns: Turns) {
    this.#socket = socket
    this.#parse = parse
    this.#turns = turns
    // node:http resumes reading when the client has read enough.
    socket.on('resume', this.#feed)
  }

  push(chunk: Buffer): void {
    if (this.#socket.parser === null) return
    const isIdle = this.#rest.length === 0 && this.#unanswered === 0
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    // A client that waits for each answer is served before clients that do not wait.
    if (isIdle && this.#isReady()) {
      if (!this.#turns.hasTime()) {
        this.#turns.waitFirst(this.#feed)
        return
      }
      this.#parseSlice()
    }
    this.#feed()
  }

  /** Notes that node:http has parsed a request and will answer it. */
  count(): void {
    this.#unanswered += 1
  }

  /** Notes that a counted request is answered, or never will be. */
  countAnswered(): void {
    this.#unanswered -= 1
    if (this.#rest.length > 0) this.#turns.wait(this.#feed)
  }

  readonly #feed = (): void => {
    if (this.#isParsing) return
    while (this.#isReady() && this.#turns.hasRoom()) this.#parseSlice()
    if (this.#isReady()) this.#turns.wait(this.#feed)
    this.#pauseOrResume()
  }

  #parseSlice(): void {
    this.#isParsing = true
    this.#turns.begin()
    const rest = this.#rest
    const end = rest.indexOf(END, SLICE_BYTES - END.length)
    const isAll = end < 0 || end === rest.length - END.length
    this.#rest = isAll ? EMPTY : rest.subarray(end + END.length)
    this.#parse(isAll ? rest : rest.subarray(0, end + END.length))
    if (this.#socket.parser === null) this.#rest = EMPTY
    this.#isParsing = false
  }

  #isReady(): boolean {
    const { writable, _paused } = this.#socket
    const hasRoom = this.#unanswered <= MAX_UNANSWERED / 2
    return this.#rest.length > 0 && hasRoom && writable && _paused !== true
  }

  #pauseOrResume(): void {
    const isWaiting = this.#rest.length > 0
    if (isWaiting) this.#socket.pause()
    else if (this.#isPaused && this.#socket._paused !== true) this.#socket.resume()
    this.#isPaused = isWaiting
  }
}
