import { join } from 'node:path'
import { removeWorkFolders } from '../backup/work-folder.ts'
import { recallPlans } from '../billing/known-plans.ts'
import type { RetryPolicy } from '../billing/stripe/stripe-calls.ts'
import type { Config } from '../config/config.ts'
import { makeDataDir } from '../config/data-dir.ts'
import { readPlans } from '../config/plans.ts'
import { openSecrets, UNFINISHED_SECRETS } from '../config/secrets.ts'
import { lockDataDir } from '../db/lock.ts'
import type { GeoOptions } from '../geo/open-geo.ts'
import { removeLeftovers } from '../process/leftovers.ts'
import type { RunScript } from '../process/run-script.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage, StorageOptions } from '../storage/storage.ts'

/** What the services need from the process that opens them. */
export interface ServiceOptions
  extends Pick<GeoOptions, 'log' | 'onProgress' | 'cacheBits' | 'compileAtlas'> {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Downloads the providers' databases; absent if this process must not. Rejects if one fails. */
  readonly downloadGeo?: () => Promise<void>
  /** Updates the geofeeds; absent if this process must not. Rejects if one fails. */
  readonly updateGeofeeds?: () => Promise<void>
  /** Runs a command in another process; absent if this process must start none. */
  readonly runScript?: RunScript | undefined
  /** The address on which the server listens; empty until it does. */
  readonly listenUrl: () => string
  /** How long billing tries to reach Stripe; by default nine seconds. */
  readonly retryPolicy?: RetryPolicy
  /** Opens another database than the file of the data folder. */
  readonly openStorage?: (options: StorageOptions) => Promise<Storage>
  /** Called if a thread ends by itself. undefined: everything runs in this thread. */
  readonly onCrash?: (error: unknown) => void
}

/** What every service needs to open. */
export type Base = Awaited<ReturnType<typeof openBase>>

/** Locks the data folder, reads the plans and secrets, and opens the database. */
export async function openBase(
  config: Config,
  { log, now, listenUrl, retryPolicy, onCrash, ...options }: ServiceOptions,
  opening: AsyncDisposableStack,
) {
  makeDataDir(config.dataDir)
  opening.use(lockDataDir(config.dataDir))
  // Only a process with the lock makes secrets, so unfinished ones are abandoned.
  removeLeftovers(config.dataDir, UNFINISHED_SECRETS, () => true)
  for (const folder of [config.dataDir, config.backupDir]) removeWorkFolders(folder)
  const configured = readPlans(config.plansFile)
  const secrets = openSecrets(config.dataDir)
  const open = options.openStorage ?? openStorage
  const storage: Storage = opening.use(
    await open({
      file: join(config.dataDir, 'app.db'),
      replicated: config.replicated,
      now,
      onError: (error, message) => log.error({ err: error }, message),
      onCrash,
    }),
  )
  // Not by the writer's thread, which takes memory that the first start needs for the databases.
  const plans = await recallPlans(storage.shortReads, configured)
  /** Public address of this service, without a slash at the end. */
  const baseUrl = () => config.baseUrl ?? listenUrl()
  return {
    config,
    secrets,
    storage,
    db: storage.db,
    plans,
    log,
    now,
    retryPolicy,
    onCrash,
    baseUrl,
  }
}
