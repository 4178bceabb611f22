import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Renewal } from '../../doctor/check-age.ts'
import { findLastDownload } from '../../geo/download/last-download.ts'
import { DAY_MS, MINUTE_MS } from '../../parts/durations.ts'
import { repeat } from '../../parts/repeat.ts'
import type { Foundation, ServiceOptions } from '../foundation.ts'
import { createJob } from '../operate/job.ts'
import { type AccountOrigin, openMaxmindAccounts } from './maxmind-account.ts'

/** Downloads the providers' databases: regularly unless a setting forbids it, and when an operator asks. */
export type Downloads = NonNullable<ReturnType<typeof openDownloads>>

const CHECK_INTERVAL_MS = MINUTE_MS

/** Whether a server looks for newer databases every day. The operator's own files have no provider. */
export function isDownloading({ download, geo }: Config): boolean {
  return download.isRegular && geo.files === undefined
}

/** What brings newer databases to a server with these settings. */
export function renewalOf(config: Config, account: AccountOrigin): Renewal {
  return {
    isOwn: config.geo.files !== undefined,
    isRegular: isDownloading(config),
    hasAccount: account !== null,
  }
}

/** Opens MaxMind's account, and the downloads, which use it if there is one. */
export function openDownloading(
  foundation: Foundation,
  { downloadGeo }: ServiceOptions,
  opening: AsyncDisposableStack,
) {
  const maxmind = openMaxmindAccounts(foundation)
  const download = downloadGeo && (async () => downloadGeo(await maxmind.settings()))
  return { maxmind, downloads: openDownloads(foundation, download, opening) }
}

/** Starts the regular downloads, in the first process. Returns null if the operator's files are served. */
export function openDownloads(
  {
    config,
    log,
    now,
    isFurther = false,
  }: Pick<Foundation, 'config' | 'log' | 'now'> & Partial<Pick<Foundation, 'isFurther'>>,
  download: (() => Promise<void>) | undefined,
  opening: AsyncDisposableStack,
) {
  if (download === undefined || config.geo.files !== undefined) return null
  const isRegular = isDownloading(config)
  const directory = join(config.dataDir, 'geo')
  let startedAt = now()
  const spread = Math.random()
  let failedAt = 0
  let failures = 0
  const job = createJob(async () => {
    const before = findLastDownload(directory, now())
    try {
      await download()
      failures = 0
      // The download ends early, without an error, when this process stops.
      if (findLastDownload(directory, now()) > before) log.info({}, 'checked for newer databases')
    } catch (error) {
      failures += 1
      failedAt = now()
      log.error({ err: error, failures }, 'cannot download databases; the old ones stay in use')
      throw error
    }
  }, now)
  const downloadIfDue = async () => {
    // These times may come from a clock that was ahead: they must not delay the next download.
    startedAt = Math.min(startedAt, now())
    failedAt = Math.min(failedAt, now())
    const succeededAt = findLastDownload(directory, now())
    if (now() < nextDownload({ startedAt, succeededAt, failedAt, failures }, spread)) return
    job.start()
    await job.settled()
  }
  const onError = (error: unknown) => log.error({ err: error }, 'cannot schedule downloads')
  if (isRegular && !isFurther) opening.use(repeat(CHECK_INTERVAL_MS, downloadIfDue, onError))
  return {
    isRegular,
    /** Downloads if the time of `nextDownload` has come. */
    downloadIfDue,
    /** Downloads at any time, when an operator starts it. */
    job,
    /** Times of the last failed and the last successful download, in epoch milliseconds; 0: never. */
    last: () => ({ failedAt, succeededAt: findLastDownload(directory, now()) }),
  }
}

const FIRST_MS = 5 * MINUTE_MS
const SPREAD_MS = 30 * MINUTE_MS
const RETRY_MS = 15 * MINUTE_MS

interface DownloadTimes {
  /** Start of the process. All times are epoch milliseconds. */
  readonly startedAt: number
  /** The last successful download by any process; 0: never. */
  readonly succeededAt: number
  readonly failedAt: number
  /** Consecutive failures in this process. */
  readonly failures: number
}

/**
 * The time of the next download: a day after the last one, but not in the first minutes of a
 * process. After failures, the pause doubles from 15 minutes to a day. `spread` (0 to 1) adds up to
 * half an hour, so that servers that started together do not download together.
 */
export function nextDownload(times: DownloadTimes, spread: number): number {
  const { startedAt, succeededAt, failedAt, failures } = times
  const later = spread * SPREAD_MS
  if (failures > 0) return failedAt + Math.min(DAY_MS, RETRY_MS * 2 ** (failures - 1)) + later
  return Math.max(startedAt + FIRST_MS, succeededAt + DAY_MS) + later
}
