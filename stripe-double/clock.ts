export type Clock = ReturnType<typeof createClock>

/**
 * The time of the double: real time plus all advances. `realNow` is in milliseconds since 1970. `runDue`
 * does what is due up to its moment.
 */
export function createClock(realNow: () => number, runDue: (until: number) => void) {
  let shiftSeconds = 0
  let pinned: number | null = null
  const now = (): number => pinned ?? Math.floor(realNow() / 1000) + shiftSeconds
  return {
    /** Seconds since 1970. */
    now,
    /** Renewals, ends and retries happen in order, each at its own time. */
    advance(seconds: number): void {
      runDue(now() + seconds)
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
