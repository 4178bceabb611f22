import { join } from 'node:path'
import type { Config } from '../config.ts'
import { nextDownload } from '../geo/download-schedule.ts'
import { hasAccount } from '../geo/download-sources.ts'
import { findLastDownload } from '../geo/last-download.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

/** Keeps the databases of the providers up to date. */
export interface Downloads {
  /** Asks the providers if it is time to. */
  look(): Promise<void>
  /** When they were last asked without success, and with it, in epoch milliseconds; 0: never. */
  last(): { readonly failedAt: number; readonly succeededAt: number }
}

const LOOK_MS = 60_000

/** Whether a server downloads: with an account, unless it serves the operator's own files. */
export function isDownloading({ download, geo }: Config): boolean {
  return hasAccount(download) && geo.files === undefined
}

/** null: the databases are the operator's own files, or there is no account. */
export function openDownloads(
  { config, log, now }: Pick<Base, 'config' | 'log' | 'now'>,
  download: (() => Promise<void>) | undefined,
  opening: DisposableStack,
): Downloads | null {
  if (download === undefined || !isDownloading(config)) return null
  const directory = join(config.dataDir, 'geo')
  let startedAt = now()
  const spread = Math.random()
  let failedAt = 0
  let failures = 0
  const look = async () => {
    // A clock that was ahead is not to put the next one off.
    startedAt = Math.min(startedAt, now())
    failedAt = Math.min(failedAt, now())
    const succeededAt = findLastDownload(directory, now())
    if (now() < nextDownload({ startedAt, succeededAt, failedAt, failures }, spread)) return
    try {
      await download()
      failures = 0
      // A process that is stopped breaks it off.
      if (findLastDownload(directory, now()) > succeededAt)
        log.info({}, 'asked for newer databases')
    } catch (error) {
      failures += 1
      failedAt = now()
      log.error({ err: error, failures }, 'cannot download databases; the old ones stay')
    }
  }
  const onError = (error: unknown) => log.error({ err: error }, 'cannot look after downloads')
  opening.use(repeat(LOOK_MS, look, onError))
  return { look, last: () => ({ failedAt, succeededAt: findLastDownload(directory, now()) }) }
}
