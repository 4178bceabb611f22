/** The time of the double: real time, shifted by what was advanced. */
export interface Clock {
  /** Seconds since 1970. */
  now(): number
  advance(seconds: number): void
  /** Runs `action` as if it were `at`. */
  during(at: number, action: () => void): void
}

/** `realNow` gives milliseconds since 1970. */
export function createClock(realNow: () => number): Clock {
  let shiftSeconds = 0
  let pinned: number | null = null
  return {
    now: () => pinned ?? Math.floor(realNow() / 1000) + shiftSeconds,
    advance(seconds) {
      shiftSeconds += seconds
    },
    during(at, action) {
      pinned = at
      try {
        action()
      } finally {
        pinned = null
      }
    },
  }
}
