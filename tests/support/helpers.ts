import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../lib/billing/stripe/stripe-calls.ts'
import { readConfig } from '../../lib/config/config.ts'
import type { Db } from '../../lib/db/open.ts'
import { firstAccount } from '../../lib/db/tables.ts'
import { createRateLimiter, POLICIES, type Policy } from '../../lib/limits/rate-limiter.ts'
import { type Log, type RequestLine, silentLog } from '../../lib/parts/log/log.ts'
import type { RunScript } from '../../lib/parts/process/run-script.ts'
import { openServices, type Services } from '../../lib/services/services.ts'
import { createApp } from '../../routes/app.ts'
import type { Answer } from './contract-check.ts'
import { geoFiles, makeGeoFolder } from './geo-files.ts'
import './quick/hashes.ts'
import { makeTestDatabase, type TestDatabase } from './database/test-database.ts'
import { makeKey } from './scene/make-key.ts'
import { createPerson, type Person, type Stage } from './scene/person.ts'
import { send } from './scene/send.ts'

export const NOON = Date.UTC(2026, 0, 15, 12)

export interface AppOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly log?: Log
  /** Epoch milliseconds; default: a clock that begins at `NOON`, and stands still until the test moves it. */
  readonly now?: () => number
  /** How long billing tries to reach Stripe; default: once. */
  readonly retryPolicy?: Partial<RetryPolicy>
  /** Runs the commands that an operator starts; default: none can be started. */
  readonly runScript?: RunScript
  /** Instead of a database of its own, one that several services share. */
  readonly database?: TestDatabase
  /** Whether the next account is the first of the server; default: it has had one. */
  readonly isNew?: boolean
  /** Replaces some services, for example by one that fails. */
  readonly replace?: (services: Services) => Partial<Services>
}

export interface TestApp extends Stage, AsyncDisposable {
  /** A connection to the database besides those of the service, as commands open one. */
  readonly otherDb: Db
  /** Makes all writes of the service fail, or no longer. */
  setReadOnly(isReadOnly: boolean): void
  /** The person of this name, who has `name@example.com`. */
  user(name: string): Person
  /** The same, but an operator once they have opened a page. */
  operator(name: string): Person
  /** Lets this many milliseconds pass. */
  pass(ms: number): void
  /** Sets the clock, to epoch milliseconds. */
  setClock(now: number): void
  /** Stops the service and opens another one on the same data, with other settings. */
  restart(env?: AppOptions['env']): Promise<TestApp>
  close(): Promise<void>
  /** Whether it is closed, or has started again as another. */
  isClosed(): boolean
}

/** For tests that exceed the limits of account and billing. */
export function withoutAccountLimit({ limits }: Services): Partial<Services> {
  const without = (policy: Policy) => createRateLimiter({ ...policy, capacity: 1_000_000 })
  const account = without(POLICIES.account)
  const billing = without(POLICIES.billing)
  const inquiries = without(POLICIES.inquiries)
  const newKeys = without(POLICIES.newKeys)
  const newSites = without(POLICIES.newSites)
  return { limits: { ...limits, account, billing, inquiries, newKeys, newSites } }
}

/** Opens the whole service over small databases in a new folder. */
export async function makeApp(options: AppOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-app-'))
  makeGeoFolder(dataDir)
  const database =
    options.database ?? (await makeTestDatabase(dataDir, options.env?.['MERIDIAN_DATABASE_URL']))
  return openApp({ dataDir, clock: { now: NOON }, database }, options)
}

interface Data {
  readonly dataDir: string
  readonly clock: { now: number }
  readonly database: TestDatabase
}

async function openApp(data: Data, options: AppOptions): Promise<TestApp> {
  const { dataDir, clock, database } = data
  const opened = await openIn(data, options)
  const services = { ...opened, ...options.replace?.(opened) }
  if (options.isNew !== true)
    await services.db.insert(firstAccount).values({ id: 1 }).onConflictDoNothing().run()
  const app = createApp(services)
  const other = database.connect()
  const closing = new AsyncDisposableStack()
  // A copy of a database that is under way may still add its file.
  closing.defer(() => rmSync(dataDir, { recursive: true, maxRetries: 5 }))
  closing.defer(database.release)
  const stop = async () => {
    other.close()
    await services[Symbol.asyncDispose]()
  }
  closing.defer(stop)
  const stage: Stage = {
    app,
    services,
    dataDir,
    send: (method, path, sent) => send({ app }, method, path, sent),
    makeKey: (wanted = {}) => makeKey(other.db, services, wanted),
  }
  return {
    ...stage,
    user: (name) => createPerson(stage, name),
    operator: (name) => createPerson(stage, name, 'operator'),
    pass: (ms) => {
      clock.now += ms
    },
    setClock: (now) => {
      clock.now = now
    },
    otherDb: other.db,
    setReadOnly: (isReadOnly) => database.setReadOnly(services, isReadOnly),
    restart: async (env = {}) => {
      closing.move()
      await stop()
      return openApp(data, { ...options, env: { ...options.env, ...env } })
    },
    close: () => closing.disposeAsync(),
    isClosed: () => closing.disposed,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

function openIn(
  { dataDir, clock, database }: Data,
  { env, log, now, retryPolicy, runScript }: AppOptions,
): Promise<Services> {
  const { city, dbip, asn, ipinfo } = geoFiles()
  const config = readConfig({
    MERIDIAN_DATA_DIR: dataDir,
    MERIDIAN_GEO: [city, dbip, asn, ipinfo].join(','),
    ...env,
  })
  return openServices(config, {
    log: log ?? silentLog,
    runScript,
    now: now ?? (() => clock.now),
    onProgress: () => {},
    // Allocating the usual size again and again would take most of the time of the tests.
    cacheBits: 8,
    ...(database.openStorage && { openStorage: database.openStorage }),
    retryPolicy: { ...DEFAULT_RETRY_POLICY, tries: 1, ...retryPolicy },
    listenUrl: () => 'http://127.0.0.1:8787',
  })
}

/** All headers except the timing and the remaining requests of a limit. */
export function steadyHeaders({ headers }: Pick<Answer, 'headers'>): [string, string][] {
  return [...headers].filter(([name]) => name !== 'ratelimit' && name !== 'server-timing')
}

export interface Logged {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

/** A log that keeps its lines. */
export function recordingLog() {
  const events: Logged[] = []
  const requests: RequestLine[] = []
  const keep = (level: Logged['level']) => (fields: object, message: string) => {
    events.push({ level, fields, message })
  }
  return {
    events,
    requests,
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    request: (line: RequestLine) => {
      requests.push(line)
    },
    writeBytes: () => {},
    flush: () => {},
  } satisfies Log & { events: Logged[]; requests: RequestLine[] }
}

const ErrorShape = v.object({ error: v.object({ code: v.string() }) })

/** The code of an error answer. */
export function codeOf({ body }: Pick<Answer, 'body'>): string {
  return v.parse(ErrorShape, body).error.code
}
