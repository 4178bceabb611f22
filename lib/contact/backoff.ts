const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS

const FIRST_PAUSE_MS = 30 * SECOND_MS
/** Nothing is put off for longer. */
export const LONGEST_PAUSE_MS = 4 * HOUR_MS
/** As long as mail servers try: RFC 5321, section 4.5.4.1. */
const GIVE_UP_MS = 5 * 24 * HOUR_MS

export interface Attempts {
  /** How many have failed. */
  readonly attempts: number
  /** Epoch milliseconds of the acceptance, or of the operator's wish to try again. */
  readonly queuedAt: number
}

/**
 * When to try again, in epoch milliseconds; null: it has been tried for long enough. Pauses double
 * up to four hours; `random` (0 to 1) takes up to half of each away, so that what failed together
 * does not come back together.
 */
export function nextAttempt(
  { attempts, queuedAt }: Attempts,
  now: number,
  random: number,
): number | null {
  if (now - queuedAt >= GIVE_UP_MS) return null
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
  return now + Math.round(pause * (1 - random / 2))
}
