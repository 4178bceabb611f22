import type { MeridianError } from './error.ts'

export interface RetryOptions {
  /** Attempts so far. */
  readonly attempts: number
  /** Further attempts after the first one. */
  readonly retries: number
  /** Milliseconds: the longest wait. */
  readonly maxDelayMs: number
  /** Whether the call only reads, so that it may arrive twice. */
  readonly isRead: boolean
  /** From 0 to 1, different for each wait. */
  readonly random: number
}

/** The service has not done what was asked. */
const REFUSED = [429, 503]
/** A proxy does not know whether the service has. */
const UNCERTAIN = [502, 504]

const FIRST_DELAY_MS = 250
/** Spreads clients that wait for the same moment. */
const JITTER_MS = 500

/** Milliseconds to wait before the next attempt; undefined: give up. */
export function retryDelay(error: MeridianError, options: RetryOptions): number | undefined {
  const { attempts, retries, maxDelayMs, random } = options
  if (attempts > retries || !mayRetry(error, options)) return undefined
  if (error.retryAfter === undefined) {
    const longest = Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** attempts)
    return longest * (0.5 + random / 2)
  }
  const asked = error.retryAfter * 1000
  return asked > maxDelayMs ? undefined : asked + JITTER_MS * random
}

function mayRetry({ status, code }: MeridianError, { isRead }: RetryOptions): boolean {
  if (REFUSED.includes(status)) return true
  return isRead && (code === 'NETWORK_ERROR' || code === 'TIMEOUT' || UNCERTAIN.includes(status))
}
