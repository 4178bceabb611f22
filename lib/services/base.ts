import type { Config } from '../config.ts'
import type { Db } from '../db/open.ts'
import type { Log } from '../log.ts'
import type { Plans } from '../plans.ts'
import type { Secrets } from '../secrets.ts'

/** What every subject is opened with. */
export interface Base {
  readonly config: Config
  readonly secrets: Secrets
  readonly db: Db
  readonly plans: Plans
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Address of this service as callers know it, without a slash at the end. */
  readonly baseUrl: () => string
}
