const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const FIRST_MS = 5 * MINUTE_MS
const SPREAD_MS = 30 * MINUTE_MS
const RETRY_MS = 15 * MINUTE_MS

export interface DownloadTimes {
  /** Of the process. Times are epoch milliseconds. */
  readonly startedAt: number
  /** Of the last download, by whichever process; 0: never. */
  readonly succeededAt: number
  readonly failedAt: number
  /** In a row, in this process. */
  readonly failures: number
}

/**
 * When to ask the providers again: a day after they were asked, but not in the first minutes of a
 * process; after failures in pauses that double from a quarter of an hour to a day. `spread` (0 to 1)
 * adds up to half an hour, so that servers which started together do not ask together.
 */
export function nextDownload(times: DownloadTimes, spread: number): number {
  const { startedAt, succeededAt, failedAt, failures } = times
  const later = spread * SPREAD_MS
  if (failures > 0) return failedAt + Math.min(DAY_MS, RETRY_MS * 2 ** (failures - 1)) + later
  return Math.max(startedAt + FIRST_MS, succeededAt + DAY_MS) + later
}
