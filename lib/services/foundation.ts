import { statSync } from 'node:fs'
import { join } from 'node:path'
import { removeWorkFolders } from '../backup/work-folder.ts'
import { recallPlans } from '../billing/known-plans.ts'
import type { RetryPolicy } from '../billing/stripe/stripe-calls.ts'
import type { Config, PostgresConfig } from '../config/config.ts'
import { makeDataDir } from '../config/data-dir.ts'
import { type Plans, readPlans } from '../config/plans.ts'
import { openSecrets, type Secrets, UNFINISHED_SECRETS } from '../config/secrets.ts'
import { VERSION } from '../config/version.ts'
import { createStopLinks, type StopLinks } from '../contact/stop-links.ts'
import { lockDataDir } from '../db/lock.ts'
import type { GeoOptions } from '../geo/open-geo.ts'
import { removeLeftovers } from '../parts/process/leftovers.ts'
import type { RunScript } from '../parts/process/run-script.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage, StorageOptions } from '../storage/storage.ts'

/** What the services need from the process that opens them. */
export interface ServiceOptions
  extends Pick<GeoOptions, 'log' | 'onProgress' | 'cacheBits' | 'compileAtlas'> {
  /** Epoch milliseconds. */
  readonly now: () => number
  /**
   * Downloads the providers' databases, with these settings besides those of this process; absent if this process
   * must not. Rejects if one fails.
   */
  readonly downloadGeo?: (settings: Readonly<Record<string, string>>) => Promise<void>
  /** Updates the geofeeds; absent if this process must not. Rejects if one fails. */
  readonly updateGeofeeds?: () => Promise<void>
  /** Runs a command in another process; absent if this process must start none. */
  readonly runScript?: RunScript | undefined
  /** The address on which the server listens; empty until it does. */
  readonly listenUrl: () => string
  /** How long billing tries to reach Stripe; by default nine seconds. */
  readonly retryPolicy?: RetryPolicy
  /** Opens the database file; by default, `openStorage` of lib/storage does. */
  readonly openStorage?: (options: StorageOptions) => Promise<Storage>
  /** Whether another process of this server has locked the data folder, and does the regular jobs there. */
  readonly isFurther?: boolean
  /** Called if a thread ends by itself. undefined: everything runs in this thread. */
  readonly onCrash?: (error: unknown) => void
}

const APP_DB = 'app.db'

/** What every service needs to open. */
export interface Foundation {
  readonly config: Config
  readonly secrets: Secrets
  readonly storage: Storage
  readonly db: Storage['db']
  readonly plans: Plans
  readonly log: ServiceOptions['log']
  readonly now: ServiceOptions['now']
  readonly retryPolicy: ServiceOptions['retryPolicy']
  readonly isFurther: boolean
  readonly onCrash: ServiceOptions['onCrash']
  /** Public address of this service, without a slash at the end. */
  readonly baseUrl: () => string
  readonly stopLinks: StopLinks
}

/** Locks the data folder, reads the plans and secrets, and opens the database. */
export async function openFoundation(
  config: Config,
  options: ServiceOptions,
  opening: AsyncDisposableStack,
): Promise<Foundation> {
  const { log, now, listenUrl, retryPolicy, isFurther = false, onCrash } = options
  if (!isFurther) takeDataDir(config, opening)
  const configured = readPlans(config.plansFile)
  const { secrets, storage } = opening.use(
    config.postgres === undefined
      ? await openFiles(config, options)
      : await openShared(config.postgres, config, options),
  )
  // Not through `db`: it would start the writer's thread, whose memory the first start needs for the databases.
  const plans = await recallPlans(storage.shortReads, configured)
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
    isFurther,
    onCrash,
    baseUrl,
    stopLinks: createStopLinks(secrets, baseUrl),
  }
}

/** Makes and locks the data folder, and removes what killed processes left there. */
function takeDataDir({ dataDir, backupDir }: Config, opening: AsyncDisposableStack): void {
  makeDataDir(dataDir)
  opening.use(lockDataDir(dataDir))
  // Only a process with the lock makes secrets, so unfinished ones are abandoned.
  removeLeftovers(dataDir, UNFINISHED_SECRETS, () => true)
  for (const folder of [dataDir, backupDir]) removeWorkFolders(folder)
}

/** Where the services store everything. */
interface Stored extends AsyncDisposable {
  readonly secrets: Secrets
  readonly storage: Storage
}

/** Opens the files of the data folder. */
async function openFiles(config: Config, options: ServiceOptions): Promise<Stored> {
  const { log, now, onCrash, openStorage: open = openStorage } = options
  const secrets = openSecrets(config.dataDir)
  const storage = await open({
    file: join(config.dataDir, APP_DB),
    replicated: config.replicated,
    now,
    onError: (error, message) => log.error({ err: error }, message),
    onCrash,
  })
  return { secrets, storage, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() }
}

/** Opens PostgreSQL, whose driver is loaded only here. */
async function openShared(
  postgres: PostgresConfig,
  { dataDir }: Config,
  { log, now }: ServiceOptions,
): Promise<Stored> {
  const file = join(dataDir, APP_DB)
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    log.warn({ file }, 'the database file is not used, because MERIDIAN_DATABASE_URL is set')
  }
  const onError: StorageOptions['onError'] = (error, message) => log.error({ err: error }, message)
  const { openPostgres } = await import('../storage/open-postgres.ts')
  return openPostgres(postgres, { version: VERSION, now, onError })
}
