export type Clock = ReturnType<typeof createClock>

/** The time of the double: real time plus all advances. `realNow` is in milliseconds since 1970. */
export function createClock(realNow: () => number) {
  let shiftSeconds = 0
  let pinned: number | null = null
  return {
    /** Seconds since 1970. */
    now: (): number => pinned ?? Math.floor(realNow() / 1000) + shiftSeconds,
    advance(seconds: number): void {
      shiftSeconds += seconds
    },
    /** Runs `action` with the clock stopped at `at`. */
    during(at: number, action: () => void): void {
      pinned = at
      try {
        action()
      } finally {
        pinned = null
      }
    },
  }
}
