import { join } from 'node:path'
import { createFindClient, type FindClient } from './access/client-address.ts'
import { type KeyRing, openKeyRing } from './access/key-ring.ts'
import { type LastUsed, openLastUsed } from './access/last-used.ts'
import { createFindSession, type FindSession } from './access/session.ts'
import { ipv4FromBits } from './address.ts'
import type { Config } from './config.ts'
import { makeDataDir } from './data-dir.ts'
import { checkWrite } from './db/check-write.ts'
import { type Db, openDb } from './db/open.ts'
import type { Library } from './geo/library.ts'
import { openGeo } from './geo/open-geo.ts'
import type { OnProgress } from './geo/prepare.ts'
import { createHealth, type Health } from './health.ts'
import type { Log } from './log.ts'
import { type Plans, readPlans } from './plans.ts'
import { openSecrets, type Secrets } from './secrets.ts'

/** All subjects, open and joined: what routes and scripts work with. */
export interface Services extends Disposable {
  readonly config: Config
  readonly secrets: Secrets
  readonly db: Db
  readonly plans: Plans
  readonly keys: KeyRing
  readonly lastUsed: LastUsed
  readonly findSession: FindSession
  readonly geo: Library
  readonly health: Health
  readonly findClient: FindClient
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Address of this service as callers know it, without a slash at the end. */
  readonly baseUrl: () => string
}

/** What the edge of the process brings in. */
export interface Edge {
  readonly log: Log
  readonly now: () => number
  readonly onProgress: OnProgress
  /** Where the server listens, once it does. */
  readonly listenUrl: () => string
}

/** Looked up by the health check; any address does. */
const PROBE = ipv4FromBits(0x08_08_08_08)

/** Opens every subject in the order in which they need each other; disposes of them in reverse. */
export async function openServices(config: Config, edge: Edge): Promise<Services> {
  const { log, now, onProgress, listenUrl } = edge
  using opening = new DisposableStack()
  makeDataDir(config.dataDir)
  const plans = readPlans(config.plansFile)
  const secrets = openSecrets(config.dataDir)
  const db = openDb(join(config.dataDir, 'app.db'))
  opening.defer(() => db.$client.close())
  const geo = opening.use(
    await openGeo({ ...config.geo, directory: join(config.dataDir, 'geo'), log, onProgress }),
  )
  const keys = openKeyRing(db, plans, (error) =>
    log.error({ err: error }, 'cannot look for changed keys'),
  )
  const lastUsed = opening.use(
    openLastUsed(db, (error) => log.error({ err: error }, 'cannot write when keys were last used')),
  )
  const health = createHealth(
    { geolocation: () => geo.locate(PROBE), database: () => checkWrite(db, now()) },
    now,
  )
  const opened = opening.move()
  return {
    config,
    secrets,
    db,
    plans,
    keys,
    lastUsed,
    findSession: createFindSession(db, secrets.auth),
    geo,
    health,
    findClient: createFindClient(config.trustedProxies),
    log,
    now,
    baseUrl: () => config.baseUrl ?? listenUrl(),
    [Symbol.dispose]: () => opened.dispose(),
  }
}
