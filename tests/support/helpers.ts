import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Hono } from 'hono'
import * as v from 'valibot'
import { type KeyType, mintKey } from '../lib/access/api-key.ts'
import { insertKey, keyExpiry, newKey } from '../lib/access/keys.ts'
import { findUserByEmail, insertUser, newUser, updatePlan } from '../lib/accounts/users.ts'
import { readConfig } from '../lib/config.ts'
import type { Scope } from '../lib/contract/operation.ts'
import { type Db, openDb } from '../lib/db/open.ts'
import { createRateLimiter, POLICIES } from '../lib/limits/rate-limiter.ts'
import { type Log, type RequestLine, silentLog } from '../lib/log.ts'
import { openServices, type Services } from '../lib/services/services.ts'
import { createApp } from '../routes/app.ts'
import type { Env } from '../routes/context.ts'
import { checkAnswer } from './contract-check.ts'
import { geoFiles, makeGeoFolder } from './geo-files.ts'

export const NOON = Date.UTC(2026, 0, 15, 12)

export interface AppOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly log?: Log
  /** Epoch milliseconds; always `NOON` unless told. */
  readonly now?: () => number
  /** Takes the place of some services, such as one that fails. */
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
  /** Address of the peer; a new one each time, since requests of one are limited. */
  readonly from?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** What the text is as JSON; undefined where it is empty. */
  readonly body: unknown
}

export interface TestApp extends Disposable {
  readonly app: Hono<Env>
  readonly services: Services
  readonly dataDir: string
  /** Sends a request, and checks whatever is answered against the contract. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  /** Makes a key as `npm run key` does, over a connection of its own. Returns its text. */
  makeKey(options?: KeyOptions): Promise<string>
  /** Stops the service in order, and opens another one on what it has left, with other settings. */
  restart(env?: AppOptions['env']): Promise<TestApp>
  close(): void
}

/** For tests that send more requests to account and billing than a caller may in a minute. */
export function withoutAccountLimit({ limits }: Services): Partial<Services> {
  const account = createRateLimiter({ ...POLICIES.account, capacity: 1_000_000 })
  return { limits: { ...limits, account } }
}

/** The whole service over small databases, in a folder of its own, where it is always `NOON`. */
export async function makeApp(options: AppOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-app-'))
  makeGeoFolder(dataDir)
  return openApp(dataDir, options)
}

async function openApp(dataDir: string, options: AppOptions): Promise<TestApp> {
  const opened = await openIn(dataDir, options)
  const services = { ...opened, ...options.replace?.(opened) }
  const app = createApp(services)
  const other = openDb(join(dataDir, 'app.db'))
  const closing = new DisposableStack()
  closing.defer(() => rmSync(dataDir, { recursive: true }))
  const stop = () => {
    other.$client.close()
    services[Symbol.dispose]()
  }
  closing.defer(stop)
  return {
    app,
    services,
    dataDir,
    send: (method, path, sent = {}) => send(app, method, path, sent),
    makeKey: (wanted = {}) => makeKey(other, services, wanted),
    restart: (env = {}) => {
      closing.move()
      stop()
      return openApp(dataDir, { ...options, env: { ...options.env, ...env } })
    },
    close: () => closing.dispose(),
    [Symbol.dispose]: () => closing.dispose(),
  }
}

function openIn(dataDir: string, { env, log, now }: AppOptions): Promise<Services> {
  const { city, dbip, asn, ipinfo } = geoFiles()
  const config = readConfig({
    MERIDIAN_DATA_DIR: dataDir,
    MERIDIAN_GEO: [city, dbip, asn, ipinfo].join(','),
    ...env,
  })
  return openServices(config, {
    log: log ?? silentLog,
    now: now ?? (() => NOON),
    onProgress: () => {},
    // To make room for many, again and again, would be most of what tests take.
    cacheBits: 8,
    listenUrl: () => 'http://127.0.0.1:8787',
  })
}

async function send(app: Hono<Env>, method: string, path: string, options: SendOptions) {
  const { key, headers, body, from = freshClient() } = options
  const request = new Request(`http://127.0.0.1:8787${path}`, {
    method,
    headers: { ...(key !== undefined && { 'x-api-key': key }), ...headers },
    ...bodyInit(body),
  })
  const response = await app.fetch(request, { remoteAddress: from })
  const text = await response.text()
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  }
  checkAnswer(method, new URL(request.url).pathname, answer)
  return answer
}

let clients = 0

/** An address of a client that no other call gets: 198.18.0.0/15 is for tests. */
export function freshClient(): string {
  clients += 1
  return `198.${18 + (clients >> 16)}.${(clients >> 8) & 255}.${clients & 255}`
}

function bodyInit(body: unknown): RequestInit {
  if (body === undefined) return {}
  if (body instanceof ReadableStream) return { body, duplex: 'half' }
  return { body: typeof body === 'string' ? body : JSON.stringify(body) }
}

async function makeKey(db: Db, { plans, now }: Services, options: KeyOptions): Promise<string> {
  const { email = 'ada@example.com', type = 'secret', origins } = options
  const plan = plans.find(options.plan ?? 'pro') ?? plans.free
  insertUser(db, newUser({ email, plan: plan.id, now: now() })).run()
  const user = await findUserByEmail(db, email)
  assert.ok(user)
  updatePlan(db, user.id, plan.id).run()
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
  assert.equal(insertKey(db, row, 1_000).run().changes, 1)
  // The service looks for changes of other connections once in a turn of the event loop.
  await nextTurn()
  return minted.text
}

/** All headers but those that tell of the time it took and of what is left of a limit. */
export function steadyHeaders({ headers }: Pick<Answer, 'headers'>): [string, string][] {
  return [...headers].filter(([name]) => name !== 'ratelimit' && name !== 'server-timing')
}

export interface Logged {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

/** A log that keeps what it is told. */
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
    flush: () => {},
  } satisfies Log & { events: Logged[]; requests: RequestLine[] }
}

const ErrorShape = v.object({ error: v.object({ code: v.string() }) })

/** The code of an answer that is an error. */
export function codeOf({ body }: Pick<Answer, 'body'>): string {
  return v.parse(ErrorShape, body).error.code
}
