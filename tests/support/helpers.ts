import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Hono } from 'hono'
import * as v from 'valibot'
import { mintKey } from '../../lib/access/api-key.ts'
import { keyExpiry } from '../../lib/access/key-expiry.ts'
import { insertKey, newKey } from '../../lib/access/keys.ts'
import { findUserByEmail, insertUser, newUser, updatePlan } from '../../lib/accounts/users.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../lib/billing/stripe/stripe-calls.ts'
import { readConfig } from '../../lib/config/config.ts'
import type { KeyType } from '../../lib/contract/account/account-schemas.ts'
import type { Scope } from '../../lib/contract/operation.ts'
import type { Db } from '../../lib/db/open.ts'
import { createRateLimiter, POLICIES, type Policy } from '../../lib/limits/rate-limiter.ts'
import { type Log, type RequestLine, silentLog } from '../../lib/parts/log/log.ts'
import { once } from '../../lib/parts/once.ts'
import type { RunScript } from '../../lib/parts/process/run-script.ts'
import { openServices, type Services } from '../../lib/services/services.ts'
import { createApp } from '../../routes/app.ts'
import type { Env } from '../../routes/context.ts'
import { type Answer, checkAnswer, isJson } from './contract-check.ts'
import { type AskFastPath, assertSameAnswer, openFastPath } from './fast-path.ts'
import { geoFiles, makeGeoFolder } from './geo-files.ts'
import './quick/hashes.ts'
import { makeTestDatabase, type TestDatabase } from './database/test-database.ts'

export const NOON = Date.UTC(2026, 0, 15, 12)

export interface AppOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly log?: Log
  /** Epoch milliseconds; default: always `NOON`. */
  readonly now?: () => number
  /** How long billing tries to reach Stripe; default: once. */
  readonly retryPolicy?: Partial<RetryPolicy>
  /** Runs the commands that an operator starts; default: none can be started. */
  readonly runScript?: RunScript
  /** Instead of a database of its own, one that several services share. */
  readonly database?: TestDatabase
  /** Replaces some services, for example by one that fails. */
  readonly replace?: (services: Services) => Partial<Services>
}

export interface KeyOptions {
  readonly email?: string
  readonly plan?: string
  readonly type?: KeyType
  readonly scopes?: readonly Scope[] | null
  readonly origins?: readonly string[]
  readonly expiresAt?: number | null
}

export interface SendOptions {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is text or a stream. */
  readonly body?: unknown
  /** Address of the client; default: a new one for each request, since requests are limited. */
  readonly from?: string
}

export interface TestApp extends AsyncDisposable {
  readonly app: Hono<Env>
  readonly services: Services
  readonly dataDir: string
  /** A connection to the database besides those of the service, as commands open one. */
  readonly otherDb: Db
  /** Makes all writes of the service fail, or no longer. */
  setReadOnly(isReadOnly: boolean): void
  /**
   * Sends a request to the router, and to the fast path if that may answer it. Checks the answer
   * against the contract, and that both give the same answer.
   */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  /** Makes a key over a separate connection, as `npm run key` does. Returns its text. */
  makeKey(options?: KeyOptions): Promise<string>
  /** Stops the service and opens another one on the same data, with other settings. */
  restart(env?: AppOptions['env']): Promise<TestApp>
  close(): Promise<void>
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
  return openApp({ dataDir, database }, options)
}

interface Data {
  readonly dataDir: string
  readonly database: TestDatabase
}

async function openApp(data: Data, options: AppOptions): Promise<TestApp> {
  const { dataDir, database } = data
  const opened = await openIn(data, options)
  const services = { ...opened, ...options.replace?.(opened) }
  const app = createApp(services)
  const hasUsualGeo = options.env?.['MERIDIAN_GEO'] === undefined && services.geo === opened.geo
  const askFastPath = once(() => openFastPath(services, { hasUsualGeo }))
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
  return {
    app,
    services,
    dataDir,
    otherDb: other.db,
    setReadOnly: (isReadOnly) => database.setReadOnly(services, isReadOnly),
    send: (method, path, sent = {}) => send({ app, askFastPath }, method, path, sent),
    makeKey: (wanted = {}) => makeKey(other.db, services, wanted),
    restart: async (env = {}) => {
      closing.move()
      await stop()
      return openApp(data, { ...options, env: { ...options.env, ...env } })
    },
    close: () => closing.disposeAsync(),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

function openIn(
  { dataDir, database }: Data,
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
    now: now ?? (() => NOON),
    onProgress: () => {},
    // Allocating the usual size again and again would take most of the time of the tests.
    cacheBits: 8,
    ...(database.openStorage && { openStorage: database.openStorage }),
    retryPolicy: { ...DEFAULT_RETRY_POLICY, tries: 1, ...retryPolicy },
    listenUrl: () => 'http://127.0.0.1:8787',
  })
}

interface Entrances {
  readonly app: Hono<Env>
  readonly askFastPath: () => Promise<AskFastPath>
}

async function send(entrances: Entrances, method: string, path: string, options: SendOptions) {
  const { key, headers, body, from = freshClient() } = options
  const request = new Request(`http://127.0.0.1:8787${path}`, {
    method,
    headers: { ...(key !== undefined && { 'x-api-key': key }), ...headers },
    ...bodyInit(body),
  })
  // Only requests that the fast path may answer open it, because compiling its atlas takes a while.
  const mayBeFast = key !== undefined && method === 'GET' && path.startsWith('/v1/ip/')
  const askFastPath = mayBeFast ? await entrances.askFastPath() : () => null
  const fast = askFastPath(request, from)
  const response = await entrances.app.fetch(request, { remoteAddress: from })
  const text = await response.text()
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: readBody(response.headers, text),
  }
  checkAnswer(method, new URL(request.url).pathname, answer)
  if (fast !== null) assertSameAnswer(fast, { ...answer, headers: steadyHeaders(answer) })
  return answer
}

function readBody(headers: Headers, text: string): unknown {
  if (text === '') return undefined
  return isJson(headers) ? JSON.parse(text) : text
}

let clients = 0

/** Returns a new client address at each call, from the test network 198.18.0.0/15. */
export function freshClient(): string {
  clients += 1
  return `198.${18 + (clients >> 16)}.${(clients >> 8) & 255}.${clients & 255}`
}

function bodyInit(body: unknown): RequestInit {
  if (body === undefined) return {}
  if (body instanceof ReadableStream) return { body, duplex: 'half' }
  return { body: typeof body === 'string' ? body : JSON.stringify(body) }
}

async function makeKey(db: Db, services: Services, options: KeyOptions): Promise<string> {
  const { plans, now, keys } = services
  const { email = 'ada@example.com', type = 'secret', origins } = options
  const plan = plans.find(options.plan ?? 'pro') ?? plans.free
  await insertUser(db, newUser({ email, plan: plan.id, now: now() })).run()
  const user = await findUserByEmail(db, email)
  assert.ok(user)
  await updatePlan(db, user.id, plan.id).run()
  const minted = mintKey(type)
  const row = newKey(minted, {
    userId: user.id,
    name: 'test',
    type,
    scopes: options.scopes ?? null,
    allowedOrigins: origins ?? null,
    now: now(),
    expiresAt: options.expiresAt === undefined ? keyExpiry(plan, now()) : options.expiresAt,
  })
  assert.equal((await insertKey(db, row, 1_000).run()).changes, 1)
  // The service checks for changes by other connections once per turn of the event loop. PostgreSQL tells it.
  do await nextTurn()
  while (!('$client' in db) && keys.find(minted.text, 0) === null)
  return minted.text
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
