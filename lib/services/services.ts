import { join } from 'node:path'
import { createFindClient, type FindClient } from '../access/client-address.ts'
import { type KeyRing, openKeyRing } from '../access/key-ring.ts'
import { createLastUsed, type LastUsed } from '../access/last-used.ts'
import { createFindSiteIds } from '../accounts/sites.ts'
import { ipv4FromBits } from '../address.ts'
import type { Billing } from '../billing/billing.ts'
import type { Overages } from '../billing/overages.ts'
import type { Config } from '../config.ts'
import { makeDataDir } from '../data-dir.ts'
import { checkWrite } from '../db/check-write.ts'
import type { Flusher } from '../db/flusher.ts'
import { writeOutLog } from '../db/fold-log.ts'
import { lockDataDir } from '../db/lock.ts'
import { openDb } from '../db/open.ts'
import type { Library } from '../geo/library.ts'
import { openGeo } from '../geo/open-geo.ts'
import type { OnProgress } from '../geo/prepare.ts'
import { createHealth, type Health } from '../health.ts'
import type { Meters } from '../limits/meters.ts'
import type { Log } from '../log.ts'
import { createRequestTimes, type RequestTimes } from '../metrics/request-times.ts'
import { readPlans } from '../plans.ts'
import { openRum, type Rum } from '../rum/rum.ts'
import { openSecrets } from '../secrets.ts'
import { type Auth, openAuth } from './auth.ts'
import type { Base } from './base.ts'
import { openBilling } from './billing.ts'
import { type Contact, openContact } from './contact.ts'
import { type Damage, watchForDamage } from './damage.ts'
import { createOpenDemo } from './demo.ts'
import { type Downloads, openDownloads } from './downloads.ts'
import { createLimits, type Limits, openFlusher, openMeters } from './metering.ts'
import { openOverages } from './overages.ts'
import { createReconciliation, type Reconciliation } from './reconciliation.ts'

/** All subjects, open and joined: what routes and scripts work with. */
export interface Services extends Base, Auth, Disposable {
  readonly keys: KeyRing
  readonly billing: Billing
  readonly reconciliation: Reconciliation
  readonly overages: Overages
  readonly lastUsed: LastUsed
  readonly flusher: Flusher
  readonly meters: Meters
  readonly limits: Limits
  readonly rum: Rum
  readonly contact: Contact
  readonly geo: Library
  /** null: nobody downloads databases. */
  readonly downloads: Downloads | null
  readonly health: Health
  readonly requestTimes: RequestTimes
  readonly findClient: FindClient
  /** The key by which the landing page looks up, made good when it is first asked for; null: none. */
  readonly openDemo: () => Promise<string | null>
}

/** What the edge of the process brings in. */
export interface Edge {
  readonly log: Log
  readonly now: () => number
  readonly onProgress: OnProgress
  /** Makes what the databases say merged beforehand; undefined: nobody does. */
  readonly compileAtlas?: () => Promise<void>
  /** Installs what the providers have; undefined: nobody does. Rejects where one of them fails. */
  readonly downloadGeo?: () => Promise<void>
  /** Up to 2^bits findings are kept per database; as many as a server needs unless told. */
  readonly cacheBits?: number
  /** Where the server listens, once it does. */
  readonly listenUrl: () => string
}

/** Looked up by the health check; any address does. */
const PROBE = ipv4FromBits(0x08_08_08_08)

/** Opens every subject in the order in which they need each other; disposes of them in reverse. */
export async function openServices(config: Config, edge: Edge): Promise<Services> {
  const { log, damage } = watchForDamage(edge.log)
  using opening = new DisposableStack()
  const base = openBase(config, { ...edge, log }, opening)
  const { db, plans } = base
  const geo = opening.use(
    await openGeo({
      ...config.geo,
      ...(edge.cacheBits !== undefined && { cacheBits: edge.cacheBits }),
      directory: join(config.dataDir, 'geo'),
      log,
      onProgress: edge.onProgress,
      compileAtlas: config.geo.atlas ? edge.compileAtlas : undefined,
    }),
  )
  const downloads = openDownloads(base, edge.downloadGeo, opening)
  const keys = openKeyRing(db, plans, (error) =>
    log.error({ err: error }, 'cannot look for changed keys'),
  )
  const flusher = openFlusher(base, opening)
  const lastUsed = createLastUsed(db, flusher.add)
  const meters = openMeters(base, flusher, opening)
  const billing = openBilling(base, keys)
  const overages = openOverages(base, { billing, flusher }, opening)
  const auth = openAuth(base, opening)
  const rum = opening.use(openTelemetry(base, geo))
  const reconciliation = opening.use(createReconciliation(base, billing))
  const contact = openContact(base, opening)
  const opened = opening.move()
  return {
    ...base,
    ...auth,
    keys,
    billing,
    reconciliation,
    overages,
    lastUsed,
    flusher,
    meters,
    limits: createLimits(),
    rum,
    contact,
    geo,
    downloads,
    health: openHealth(base, geo, damage),
    requestTimes: createRequestTimes(),
    findClient: createFindClient(config.trustedProxies),
    openDemo: createOpenDemo(base, keys),
    [Symbol.dispose]: () => opened.dispose(),
  }
}

function openBase(config: Config, { log, now, listenUrl }: Edge, opening: DisposableStack): Base {
  makeDataDir(config.dataDir)
  opening.use(lockDataDir(config.dataDir))
  const plans = readPlans(config.plansFile)
  const secrets = openSecrets(config.dataDir)
  const db = openDb(join(config.dataDir, 'app.db'), { replicated: config.replicated })
  opening.defer(() => db.$client.close())
  // Else the log is for the process that copies it.
  if (!config.replicated) writeOutLog(db)
  const baseUrl = () => config.baseUrl ?? listenUrl()
  return { config, secrets, db, plans, log, now, baseUrl }
}

function openHealth({ db, now }: Base, geo: Library, damage: Damage): Health {
  const checkDatabase = () => {
    damage.check()
    checkWrite(db, now())
  }
  return createHealth({ geolocation: () => geo.locate(PROBE), database: checkDatabase }, now)
}

function openTelemetry({ db, log, now }: Base, geo: Library): Rum {
  return openRum({
    db,
    now,
    findSites: createFindSiteIds(db),
    findCountry: (address) => geo.locate(address).place?.country?.code,
    onError: (error, message) => log.error({ err: error }, message),
  })
}
