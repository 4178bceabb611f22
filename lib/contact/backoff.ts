import { DAY_MS, HOUR_MS, SECOND_MS } from '../parts/durations.ts'

const FIRST_PAUSE_MS = 30 * SECOND_MS
export const LONGEST_PAUSE_MS = 4 * HOUR_MS
/** As long as mail servers retry: RFC 5321, section 4.5.4.1. */
const GIVE_UP_MS = 5 * DAY_MS

/**
 * When to try again, in epoch milliseconds; null after five days. Pauses double up to four hours.
 * `random` (0 to 1) shortens each by up to half, which spreads the retries of inquiries that failed
 * together.
 */
export function nextAttempt(
  { attempts, queuedAt }: { readonly attempts: number; readonly queuedAt: number },
  now: number,
  random: number,
): number | null {
  if (now - queuedAt >= GIVE_UP_MS) return null
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
  return now + Math.round(pause * (1 - random / 2))
}
