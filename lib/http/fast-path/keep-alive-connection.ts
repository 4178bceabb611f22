import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isOver, whenAnswered } from '../write-answer.ts'
import type { Feed } from './feed.ts'
import type { PlainRequest, RequestReader } from './plain-request.ts'

/** Follows the requests of a connection without access to the parser of node:http. */
export class KeepAliveConnection {
  readonly socket: Socket
  readonly #feed: Feed
  readonly #reader: RequestReader
  #isPlain = true
  /** Requests whose head node:http has parsed. */
  #parsed = 0
  /** Requests that node:http has read to the end and answered. */
  #done = 0
  /** Whether a request that was read here waits for its answer. */
  #isWaiting = false
  /** What has arrived in the meantime. */
  #held: Buffer | null = null

  constructor(socket: Socket, feed: Feed, reader: RequestReader) {
    this.socket = socket
    this.#feed = feed
    this.#reader = reader
  }

  /** Returns the request if `chunk` is one that may be answered here. */
  read(chunk: Buffer): PlainRequest | null {
    return this.#isIdle() ? this.#reader.read(chunk) : null
  }

  /** Notes that the last request read here is answered later. */
  wait(): void {
    this.#isWaiting = true
  }

  /** If a request waits for its answer, keeps `chunk`, stops reading and returns true; else returns false. */
  hold(chunk: Buffer): boolean {
    if (!this.#isWaiting) return false
    this.#held = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    this.socket.pause()
    return true
  }

  /** Notes that no request waits any more, and reads on. Returns what has arrived meanwhile; null if nothing. */
  endWait(): Buffer | null {
    const held = this.#held
    this.#held = null
    this.#isWaiting = false
    if (held !== null) this.socket.resume()
    return held
  }

  /** Passes `chunk` to node:http. */
  pass(chunk: Buffer): void {
    this.follow(chunk)
    this.#feed.push(chunk)
  }

  /** Counts the requests in a chunk that node:http has got. */
  follow(chunk: Buffer): void {
    this.#isPlain &&= this.#reader.follow(chunk)
  }

  /** Notes that node:http has parsed the head of `request`. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    this.#parsed += 1
    if (isOver(response)) {
      this.#end(request, response)
      return
    }
    this.#feed.count()
    whenAnswered(response, () => {
      this.#feed.countAnswered()
      this.#end(request, response)
    })
  }

  #end(request: IncomingMessage, response: ServerResponse): void {
    if (!response.writableFinished) return
    // An answer may be sent before the body has arrived.
    if (request.complete) this.#done += 1
    else request.once('end', () => (this.#done += 1))
  }

  /**
   * Whether everything is answered: node:http must have parsed and answered as many requests as we have
   * counted.
   */
  #isIdle(): boolean {
    const { followed, isBetweenRequests } = this.#reader
    const isDone = followed > 0 && this.#parsed === followed && this.#done === followed
    return this.#isPlain && isBetweenRequests && isDone
  }
}
