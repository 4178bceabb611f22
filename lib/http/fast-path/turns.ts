import { nameRuntime } from '../../config/runtime.ts'

/** The most requests that may start in one turn, look-ups not counted. Even 32 pages, the slowest, take only a few milliseconds. */
export const MAX_IN_TURN = 32

const IS_DENO = nameRuntime(process.versions) === 'deno'

/**
 * Deno reads from other connections only while no timer is due. So on Deno the pause is longer than
 * it takes to answer the requests of a turn.
 */
const PAUSE_MS = IS_DENO ? 20 : 0

/**
 * Once a turn of the event loop has taken this long, further requests wait for a later one. Not on Deno:
 * with its long pauses, too many would wait.
 */
const TURN_MS = IS_DENO ? Number.POSITIVE_INFINITY : 2

/**
 * Spreads the requests of all connections of a server over turns of the event loop, so that quick requests
 * wait for only a few others.
 */
export class Turns {
  readonly #clock: () => number
  /** Functions to call in order: first those given to `waitFirst`, whose clients wait for the answer. */
  readonly #first = new Set<() => void>()
  readonly #waiting = new Set<() => void>()
  #started = 0
  /** When the first request of this turn of the event loop began; undefined: none has. */
  #begunAt: number | undefined
  #isPlanned = false

  /** `clock` returns monotonic milliseconds. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock
  }

  /** Whether more requests may start in this turn of the event loop. */
  hasRoom(): boolean {
    return this.#started < MAX_IN_TURN && this.hasTime()
  }

  /** Whether the requests of this turn of the event loop have taken little time so far. */
  hasTime(): boolean {
    return this.#begunAt === undefined || this.#clock() - this.#begunAt < TURN_MS
  }

  /** Notes that bytes are about to be parsed. */
  begin(): void {
    if (this.#begunAt !== undefined) return
    this.#begunAt = this.#clock()
    setImmediate(() => {
      this.#begunAt = undefined
      this.#started = 0
    })
  }

  /** Notes that a request has started. */
  count(): void {
    this.begin()
    this.#started += 1
  }

  /** Calls `feed` in a later turn that has room. */
  wait(feed: () => void): void {
    this.#waiting.add(feed)
    this.#plan()
  }

  /** Calls `feed` in a later turn that has room, before the functions given to `wait`. */
  waitFirst(feed: () => void): void {
    this.#first.add(feed)
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned || this.#first.size + this.#waiting.size === 0) return
    this.#isPlanned = true
    setTimeout(() => {
      this.#isPlanned = false
      this.#run()
    }, PAUSE_MS)
  }

  #run(): void {
    // At least one of these: those that go first could otherwise keep them waiting forever.
    const [next] = this.#waiting
    if (next !== undefined && this.hasRoom()) {
      this.#waiting.delete(next)
      next()
    }
    this.#runOf(this.#first)
    this.#runOf(this.#waiting)
    this.#plan()
  }

  #runOf(waiting: Set<() => void>): void {
    for (const feed of waiting) {
      if (!this.hasRoom()) return
      waiting.delete(feed)
      feed()
    }
  }
}
