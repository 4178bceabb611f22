import { join } from 'node:path'
import { createFindClient } from '../access/client-address.ts'
import { createCredentialQueues } from '../access/credential-queues.ts'
import { alignKeyExpiry } from '../access/key-expiry.ts'
import type { KeyRing } from '../access/key-ring/key-ring.ts'
import { createProxyWatch } from '../access/unknown-proxy.ts'
import { createKeptAnswers, type KeptAnswers } from '../accounts/kept-answers.ts'
import { cacheReceivers, staleAfterChange, staleAfterSecond } from '../accounts/receivers.ts'
import { createFindReceiver, type FindReceiver } from '../accounts/site-receiver.ts'
import { ASSET_LOADS } from '../assets/page-assets.ts'
import type { Billing } from '../billing/billing.ts'
import { rememberPlans } from '../billing/known-plans.ts'
import { forgetOtherPrices } from '../billing/overages/overage-price.ts'
import { BASE_URL_ADVICE, baseUrlProblem, sendsLinks } from '../config/base-url-problem.ts'
import type { Config } from '../config/config.ts'
import { deriveSecret } from '../config/secrets.ts'
import { forgetProxy, PROXY_ADVICE, proxyProblem, rememberProxy } from '../config/seen-proxy.ts'
import { checkWrite } from '../db/open.ts'
import { runInTransaction } from '../db/transaction.ts'
import { removeUnusedCopies } from '../geo/files/private-copy.ts'
import type { Library } from '../geo/library.ts'
import { openGeo } from '../geo/open-geo.ts'
import { createLimits, createVisitorLimits } from '../limits/rate-limiter.ts'
import type { Log } from '../parts/log/log.ts'
import { createRequestTimes, type RequestTimes } from '../parts/metrics/request-times.ts'
import { ipv4FromBits } from '../parts/net/address.ts'
import { createAskHostname } from '../parts/net/hostname.ts'
import { createFindTxt } from '../parts/net/txt-records.ts'
import { totalMemory } from '../parts/process/available-memory.ts'
import { freeMemory } from '../parts/process/free-memory.ts'
import { withRecoveries } from '../parts/report-outages.ts'
import { createQueue, createQueues } from '../parts/task-queue.ts'
import { createRum, type Rum } from '../rum/rum.ts'
import { type Auth, openAuth } from './auth.ts'
import {
  createReconciliation,
  openBilling,
  openCatalogue,
  openContactSender,
  openOverages,
} from './billing.ts'
import { type CapNotices, openCapNotices } from './cap-notices.ts'
import { openContact } from './contact.ts'
import { watchForDamage } from './damage.ts'
import { openDeletionRequests } from './delete-account.ts'
import { createOpenDemo } from './demo.ts'
import { type Foundation, openFoundation, type ServiceOptions } from './foundation.ts'
import { type Downloads, openDownloading } from './geo/downloads.ts'
import { openGeofeeds } from './geo/geofeeds.ts'
import type { MaxmindAccounts } from './geo/maxmind-account.ts'
import { createHealth } from './health.ts'
import { createFindHostname, type FindHostname } from './hostnames.ts'
import { type Counters, openCounters } from './metering.ts'
import { openOperatorJobs } from './operate/jobs.ts'
import { type Load, preload } from './preload.ts'
import { openSiteProofs } from './sites/site-proofs.ts'
import { openVitalsAlerts } from './sites/vitals-alerts.ts'

/** The address that the health check looks up. Any other would do. */
const PROBE = ipv4FromBits(0x08_08_08_08)

/** Limits per client address for look-ups of sessions not seen before. */
const UNKNOWN_SESSIONS = { atOnce: 8, mayWait: 500 }
/** Requests whose body is read without a rate limit, per address: Stripe's events and assistants' messages, up to 600 KB. */
const FREE_BODIES = { atOnce: 8, mayWait: 50 }
/**
 * Hashing a password takes 32 MB and a tenth of a second. In a longer queue, clients would give up. The
 * reserve is for clients with a session and for known browsers.
 */
const PASSWORDS = { mayWait: 20, mayWaitEach: 5, reserve: 10 }
const PRELOAD_PAUSE_MS = 100
/** With less memory, passwords are hashed one at a time. */
const AMPLE_MEMORY = 400 * 1024 * 1024

/** All open services, as routes and scripts use them. */
export interface Services extends Foundation, Auth, Counters, Admission, Preloads, AsyncDisposable {
  readonly keys: KeyRing
  readonly keptAnswers: KeptAnswers
  readonly geo: Library
  readonly rum: Rum
  readonly billing: Billing
  readonly overages: ReturnType<typeof openOverages>
  readonly catalogue: ReturnType<typeof openCatalogue>
  readonly reconciliation: ReturnType<typeof createReconciliation>
  readonly contact: ReturnType<typeof openContact>
  readonly notices: CapNotices
  readonly vitalsAlerts: ReturnType<typeof openVitalsAlerts>
  readonly siteProofs: ReturnType<typeof openSiteProofs>
  readonly findReceiver: FindReceiver
  readonly findHostname: FindHostname
  readonly findClient: ReturnType<typeof createFindClient>
  readonly proxyWatch: ReturnType<typeof createProxyWatch>
  /** null if this server serves only the operator's files. */
  readonly downloads: Downloads | null
  readonly maxmind: MaxmindAccounts
  readonly operatorJobs: ReturnType<typeof openOperatorJobs>
  readonly health: ReturnType<typeof createHealth>
  readonly requestTimes: RequestTimes
  readonly openDemo: ReturnType<typeof createOpenDemo>
  /** Begins to compare with Stripe and to read prices, in the background. */
  readonly startReadingStripe: () => void
}

/** The rate limits, and the queues that limit how much runs at the same time. */
interface Admission {
  readonly limits: ReturnType<typeof createLimits>
  readonly visitors: ReturnType<typeof createVisitorLimits>
  readonly sessionQueues: ReturnType<typeof createCredentialQueues>
  readonly passwordQueue: ReturnType<typeof createQueue>
  readonly freeBodies: ReturnType<typeof createQueues>
}

interface Preloads {
  /** Loads code into this thread, and frees the 20 to 35 MB of garbage before requests have to wait for it. */
  readonly loadCode: () => Promise<void>
  /** Loads what other threads prepare, with pauses for requests. */
  readonly preload: () => Promise<void>
}

/** Opens all services in the order of their dependencies, and disposes of them in reverse. */
export async function openServices(config: Config, options: ServiceOptions): Promise<Services> {
  const { log, checkDamage } = watchForDamage(withRecoveries(options.log), options.now)
  await using opening = new AsyncDisposableStack()
  const foundation = await openFoundation(config, { ...options, log }, opening)
  const geo: Library = opening.use(await openDatabases(config, { ...options, log }))
  await applySettings(foundation)
  const downloading = openDownloading(foundation, options, opening)
  openGeofeeds(foundation, options.updateGeofeeds, opening)
  const keys = await openKeys(foundation)
  const notices = openCapNotices(foundation, opening)
  const counters = openCounters(foundation, notices, opening)
  const billing = openBilling({ ...foundation, meters: counters.meters }, keys)
  const overages = openOverages(foundation, { billing, ledger: counters.ledger }, opening)
  const auth = openAuth(foundation, keys, opening)
  const findReceiver = createFindReceiver(foundation.storage.shortReads, foundation.baseUrl)
  const rum = openTelemetry(foundation, { geo, keys, findReceiver })
  const findTxt = createFindTxt(config.dnsServers)
  const siteProofs = opening.use(openSiteProofs({ ...foundation, keys }, findTxt))
  const catalogue = opening.use(openCatalogue(foundation, billing))
  const reconciliation = opening.use(createReconciliation(foundation, billing))
  openPendingWork(foundation, { keys, billing, overages }, opening)
  const contact = openContact(foundation, opening)
  const opened = opening.move()
  return {
    ...foundation,
    ...auth,
    keys,
    keptAnswers: openKeptAnswers(foundation),
    billing,
    catalogue,
    reconciliation,
    overages,
    notices,
    ...counters,
    ...createAdmission(),
    rum,
    findReceiver,
    siteProofs,
    vitalsAlerts: openVitalsAlerts({ ...foundation, rum, mails: auth.mails }, opened),
    contact,
    geo,
    findHostname: openHostnames(config),
    ...downloading,
    operatorJobs: openOperatorJobs(foundation, billing, options.runScript),
    health: openHealth(foundation, { geo, keys, checkDamage }),
    requestTimes: createRequestTimes(),
    ...openClients(foundation),
    openDemo: createOpenDemo(foundation, keys),
    startReadingStripe: () => startAll([reconciliation, overages, catalogue]),
    ...createPreloads(log, auth, [...contact.loads, auth.mails.load, ...billing.loads]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Finds the clients of requests, and names a proxy, in the log and for the doctor, that should perhaps be trusted. */
function openClients({ config, log, isFurther }: Foundation) {
  if (!isFurther) forgetProxy(config.dataDir)
  const proxyWatch = createProxyWatch(config.clientHeader, (seen) => {
    log.warn({ client: seen.network }, `${proxyProblem(seen)}; ${PROXY_ADVICE}`)
    rememberProxy(config.dataDir, seen)
  })
  return { proxyWatch, findClient: createFindClient(config, proxyWatch.see) }
}

/** Does the work that others leave in the database: changed names to send, accounts to delete. */
function openPendingWork(
  foundation: Foundation,
  services: Parameters<typeof openDeletionRequests>[1],
  opening: AsyncDisposableStack,
): void {
  openContactSender(foundation, services.billing, opening)
  openDeletionRequests(foundation, services, opening)
}

function startAll(parts: readonly { readonly start: () => void }[]): void {
  for (const part of parts) part.start()
}

function openKeys({ storage, plans, log }: Foundation) {
  return storage.openKeys(plans, (error) =>
    log.error({ err: error }, 'cannot look for changed keys'),
  )
}

function openKeptAnswers({ db, secrets, now, log }: Foundation): KeptAnswers {
  const secret = deriveSecret(secrets, 'kept answers')
  const onError = (error: unknown) => log.error({ err: error }, 'cannot keep an answer')
  return createKeptAnswers({ db, secret, now, onError })
}

function createAdmission(): Admission {
  return {
    limits: createLimits(),
    visitors: createVisitorLimits(),
    sessionQueues: createCredentialQueues(UNKNOWN_SESSIONS),
    passwordQueue: createQueue({ ...PASSWORDS, atOnce: totalMemory() < AMPLE_MEMORY ? 1 : 2 }),
    freeBodies: createQueues(FREE_BODIES),
  }
}

/** Warns of settings with which the service runs, but its links lead nowhere. */
function warnOfSettings({ config, log }: Foundation): void {
  const problem = baseUrlProblem(config)
  if (problem !== null && sendsLinks(config)) log.warn({}, `${problem}; ${BASE_URL_ADVICE}`)
}

/** Adjusts the database to settings that have changed since the last start. */
async function applySettings(foundation: Foundation): Promise<void> {
  const { config, db, plans, now } = foundation
  warnOfSettings(foundation)
  await rememberPlans(db, plans)
  await runInTransaction(db, [alignKeyExpiry(db, plans, now())])
  await runInTransaction(db, [forgetOtherPrices(db, config.stripe.overagePrice)])
}

async function openDatabases({ dataDir, geo }: Config, options: ServiceOptions) {
  const directory = join(dataDir, 'geo')
  const compileAtlas = geo.atlas ? options.compileAtlas : undefined
  const opened = await openGeo({ ...options, ...geo, directory, compileAtlas })
  if (options.isFurther !== true) await removeUnusedCopies(directory, geo.files ?? [])
  return opened
}

/** Without the setting, finds no hostname. */
function openHostnames({ hostnames }: Config): FindHostname {
  if (hostnames === undefined) return async () => undefined
  return createFindHostname(createAskHostname(hostnames.servers))
}

function createPreloads(log: Log, { loadAuth }: Auth, here: readonly Load[]): Preloads {
  return {
    loadCode: async () => {
      await preload(here, log)
      freeMemory()
    },
    preload: () => preload([loadAuth, ...ASSET_LOADS], log, PRELOAD_PAUSE_MS),
  }
}

interface Checked {
  readonly geo: Library
  readonly keys: KeyRing
  readonly checkDamage: () => void
}

function openHealth({ db, now }: Foundation, { geo, keys, checkDamage }: Checked) {
  const checkLookUp = () => {
    if (!keys.isCurrent()) throw new Error('keys cannot be checked')
    geo.find(PROBE)
  }
  const checkDatabase = async () => {
    checkDamage()
    await checkWrite(db, now())
  }
  return createHealth({ geolocation: checkLookUp, database: checkDatabase }, now)
}

interface TelemetryParts {
  readonly geo: Library
  readonly keys: KeyRing
  readonly findReceiver: FindReceiver
}

function openTelemetry({ storage, log }: Foundation, { geo, keys, findReceiver }: TelemetryParts) {
  // PostgreSQL reports changes of sites with those of keys.
  const isPostgres = storage.db.engine.dialect === 'postgres'
  const isStale = isPostgres ? staleAfterChange(keys.onChange) : staleAfterSecond()
  return createRum({
    ...storage.rum,
    findSite: cacheReceivers(findReceiver, isStale),
    findCountry: (address) => geo.find(address).place?.country?.code,
    onError: (error, message) => log.error({ err: error }, message),
  })
}
