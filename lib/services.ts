import { join } from 'node:path'
import { createFindClient, type FindClient } from './access/client-address.ts'
import type { HandleAuth } from './access/embedded-auth.ts'
import { type KeyRing, openKeyRing } from './access/key-ring.ts'
import { createLastUsed, type LastUsed } from './access/last-used.ts'
import { createFindRemoteSession } from './access/remote-auth.ts'
import {
  createFindSession,
  type FindSession,
  findSessionUser,
  removeEnded,
  removeHalfUsers,
} from './access/session.ts'
import { type AuditEvent, insertAudit } from './accounts/audit.ts'
import { adoptUser } from './accounts/remote-users.ts'
import { createFindSiteIds } from './accounts/sites.ts'
import { ipv4FromBits } from './address.ts'
import type { Config } from './config.ts'
import { makeDataDir } from './data-dir.ts'
import { checkWrite } from './db/check-write.ts'
import { createFlusher, type Flusher } from './db/flusher.ts'
import { type Db, openDb } from './db/open.ts'
import type { Library } from './geo/library.ts'
import { openGeo } from './geo/open-geo.ts'
import type { OnProgress } from './geo/prepare.ts'
import { createHealth, type Health } from './health.ts'
import { createMeterStore } from './limits/meter-store.ts'
import { Meters } from './limits/meters.ts'
import { createRateLimiter, POLICIES, type RateLimiter } from './limits/rate-limiter.ts'
import type { CapNotice } from './limits/user-meter.ts'
import type { Log } from './log.ts'
import { repeat } from './periodic.ts'
import { type Plans, readPlans } from './plans.ts'
import { openRum, type Rum } from './rum/rum.ts'
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
  /** Sign-up and sign-in; null: another service does that. */
  readonly handleAuth: HandleAuth | null
  readonly flusher: Flusher
  readonly meters: Meters
  readonly limits: Limits
  readonly rum: Rum
  readonly geo: Library
  readonly health: Health
  readonly findClient: FindClient
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Address of this service as callers know it, without a slash at the end. */
  readonly baseUrl: () => string
}

/** The limits that no plan changes. */
export interface Limits {
  readonly account: RateLimiter
  readonly address: RateLimiter
  readonly failures: RateLimiter
  readonly beacons: RateLimiter
}

/** What the edge of the process brings in. */
export interface Edge {
  readonly log: Log
  readonly now: () => number
  readonly onProgress: OnProgress
  /** Where the server listens, once it does. */
  readonly listenUrl: () => string
}

const FLUSH_MS = 1_000
const IDLE_SWEEP_MS = 60_000
const SESSION_CLEANUP_MS = 60 * 60 * 1000

const NO_MAIL =
  'MERIDIAN_SMTP_URL is not set: sign-up works, but no e-mail address is verified and no password reset by mail'

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
  const base = {
    config,
    secrets,
    db,
    plans,
    log,
    now,
    baseUrl: () => config.baseUrl ?? listenUrl(),
  }
  const keys = openKeyRing(db, plans, (error) =>
    log.error({ err: error }, 'cannot look for changed keys'),
  )
  const flusher = openFlusher(base, opening)
  const lastUsed = createLastUsed(db, flusher.add)
  const meters = openMeters(base, flusher, opening)
  cleanUpSessions(base, opening)
  const rum = opening.use(openTelemetry(base, geo))
  const health = createHealth(
    { geolocation: () => geo.locate(PROBE), database: () => checkWrite(db, now()) },
    now,
  )
  const opened = opening.move()
  return {
    ...base,
    ...(config.authUrl === undefined ? embedAuth(base) : askRemoteAuth(base, config.authUrl)),
    keys,
    lastUsed,
    flusher,
    meters,
    limits: createLimits(),
    rum,
    geo,
    health,
    findClient: createFindClient(config.trustedProxies),
    [Symbol.dispose]: () => opened.dispose(),
  }
}

/** At the start and then once an hour. */
function cleanUpSessions({ db, log, now }: Base, opening: DisposableStack): void {
  const cleanUp = () => {
    removeEnded(db, now())
    removeHalfUsers(db, now())
  }
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove ended sessions')
  cleanUp()
  opening.use(repeat(SESSION_CLEANUP_MS, cleanUp, onError))
}

function createLimits(): Limits {
  return {
    account: createRateLimiter(POLICIES.account),
    address: createRateLimiter(POLICIES.address),
    failures: createRateLimiter(POLICIES.failures),
    beacons: createRateLimiter(POLICIES.beacons),
  }
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

/** Writes once a second, and once more when all is closed. */
function openFlusher({ db, log }: Base, opening: DisposableStack): Flusher {
  const flusher = createFlusher(db)
  opening.defer(() => {
    try {
      flusher.flushNow()
    } catch (error) {
      log.error({ err: error, lost: flusher.size() }, 'cannot write counters')
    }
  })
  opening.use(
    repeat(FLUSH_MS, flusher.flush, (error) =>
      log.error({ err: error, waiting: flusher.size() }, 'cannot write counters; they are kept'),
    ),
  )
  return flusher
}

function openMeters({ db, log, now }: Base, flusher: Flusher, opening: DisposableStack): Meters {
  const audit = (notice: CapNotice) => {
    insertAudit(db, capEvent(notice, now())).run()
  }
  const announce = ({ userId, warned, cap }: CapNotice) =>
    log.warn({ userId, cap }, `a user has used ${warned} % of the monthly cap`)
  const store = createMeterStore(db)
  const meters = new Meters({ store, write: flusher.add, audit, announce }, now())
  opening.use(
    repeat(
      IDLE_SWEEP_MS,
      () => meters.removeIdle(now()),
      (error) => log.error({ err: error }, 'cannot remove full buckets'),
    ),
  )
  return meters
}

function capEvent({ userId, warned, cap }: CapNotice, now: number): AuditEvent {
  const action = warned === 100 ? 'reach_cap' : 'near_cap'
  const detail = `${warned} % of ${cap} requests`
  return { app: 'api', actorId: userId, action, detail, createdAt: now }
}

type Base = Pick<Services, 'config' | 'secrets' | 'db' | 'plans' | 'log' | 'now' | 'baseUrl'>
type Auth = Pick<Services, 'findSession' | 'handleAuth'>

/** Sign-in is loaded when it is first used, since that takes longer than the whole start. */
function embedAuth({ config, secrets, db, plans, log, baseUrl }: Base): Auth {
  const { smtpUrl, mailFrom, allowSignUp } = config
  if (smtpUrl === undefined) log.warn({}, NO_MAIL)
  const load = async () => {
    const { createEmbeddedAuth } = await import('./access/embedded-auth.ts')
    const { createSendMail } = await import('./mail.ts')
    return createEmbeddedAuth({
      db,
      secret: secrets.auth,
      baseUrl: baseUrl(),
      plan: plans.free.id,
      allowSignUp,
      sendMail: smtpUrl === undefined ? null : createSendMail({ url: smtpUrl, from: mailFrom }),
      log,
    })
  }
  let loading: ReturnType<typeof load> | undefined
  return {
    findSession: createFindSession(db, secrets.auth),
    handleAuth: async (call) => {
      loading ??= load()
      return (await loading)(call)
    },
  }
}

function askRemoteAuth({ db, plans, log }: Base, url: string): Auth {
  const findSession = createFindRemoteSession({
    url,
    adopt: (user, now) => adoptUser(db, user, { plan: plans.free.id, now }),
    findUser: (id) => findSessionUser(db, id),
    onTrouble: (reason) => log.error({ reason }, 'cannot ask the auth service'),
  })
  return { findSession, handleAuth: null }
}
