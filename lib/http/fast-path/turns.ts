import { nameRuntime } from '../../config/runtime.ts'

/** Even pages, which take longest, take only a few milliseconds for this number of requests. */
export const MAX_IN_TURN = 32

/**
 * Deno reads from other connections only while no timer is due. So on Deno the pause is longer than
 * it takes to answer the requests of a turn.
 */
const PAUSE_MS = nameRuntime(process.versions) === 'deno' ? 20 : 0

/**
 * Lets the connections of a server that send requests without waiting for answers take turns, so
 * that other clients wait for few of their requests, however many such connections there are.
 */
export class Turns {
  /** Connections, in the order of their turns. */
  readonly #waiting = new Set<() => void>()
  #started = 0
  #isPlanned = false

  /** Whether more requests may start in this turn of the event loop. */
  hasRoom(): boolean {
    return this.#started < MAX_IN_TURN
  }

  /** Notes that a request has started. */
  count(): void {
    if (this.#started === 0) {
      setImmediate(() => {
        this.#started = 0
      })
    }
    this.#started += 1
  }

  /** Calls `feed` in a later turn that has room. */
  wait(feed: () => void): void {
    this.#waiting.add(feed)
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.size === 0) return
    this.#isPlanned = true
    setTimeout(() => {
      this.#isPlanned = false
      this.#run()
    }, PAUSE_MS)
  }

  #run(): void {
    for (const feed of this.#waiting) {
      if (!this.hasRoom()) break
      this.#waiting.delete(feed)
      feed()
    }
    this.#plan()
  }
}
