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
import { type Log, type RequestLine, silentLog } from '../lib/log.ts'
import { openServices, type Services } from '../lib/services.ts'
import { createApp } from '../routes/app.ts'
import type { Env } from '../routes/context.ts'
import { checkAnswer } from './contract-check.ts'
import { geoFiles, makeGeoFolder } from './geo-files.ts'

export const NOON = Date.UTC(2026, 0, 15, 12)

export interface AppOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly log?: Log
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
  /** Address of the peer. */
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
  close(): void
}

/** The whole service over small databases, in a folder of its own, where it is always `NOON` unless told. */
export async function makeApp({ env, log, now, replace }: AppOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-app-'))
  makeGeoFolder(dataDir)
  const { city, dbip, asn, ipinfo } = geoFiles()
  const config = readConfig({
    MERIDIAN_DATA_DIR: dataDir,
    MERIDIAN_GEO: [city, dbip, asn, ipinfo].join(','),
    ...env,
  })
  const opened = await openServices(config, {
    log: log ?? silentLog,
    now: now ?? (() => NOON),
    onProgress: () => {},
    listenUrl: () => 'http://127.0.0.1:8787',
  })
  const services = { ...opened, ...replace?.(opened) }
  const app = createApp(services)
  const other = openDb(join(dataDir, 'app.db'))
  const close = () => {
    other.$client.close()
    services[Symbol.dispose]()
    rmSync(dataDir, { recursive: true })
  }
  return {
    app,
    services,
    dataDir,
    send: (method, path, options = {}) => send(app, method, path, options),
    makeKey: (options = {}) => makeKey(other, services, options),
    close,
    [Symbol.dispose]: close,
  }
}

async function send(app: Hono<Env>, method: string, path: string, options: SendOptions) {
  const { key, headers, body, from = '203.0.113.7' } = options
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
