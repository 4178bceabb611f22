import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Page } from 'playwright-core'
import * as v from 'valibot'
import { openDb, type SqliteDb } from '../../lib/db/open.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { postJson } from './post-json.ts'
import { NODE_COMMAND, startProcess } from './start-process.ts'

export const SITE = 'https://shop.example'
const EMAIL = 'ada@example.com'
const WIDTH = 1280

type Environment = Readonly<Record<string, string>>

export interface DemoOptions {
  /** The folder of the prepared databases. */
  readonly geoFolder: string
  /** Days with page views. */
  readonly days: number
  readonly viewsPerDay: number
  readonly keys: number
  /** Made-up entries of the audit log. */
  readonly auditRows: number
  /** Adds other users; the user of the dashboard is then an operator. */
  readonly addPeople?: (db: SqliteDb) => void
}

/**
 * Fills a temporary instance with made-up data, and signs in to its dashboard in Chromium. The URL of
 * the instance has no slash at the end.
 */
export async function openDashboard(options: DemoOptions) {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(mkdtempDisposableSync(join(tmpdir(), 'meridian-demo-')))
  mkdirSync(join(folder, 'backups'))
  symlinkSync(resolve(options.geoFolder), join(folder, 'geo'))
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, MERIDIAN_DATA_DIR: folder, MERIDIAN_GEO_ATLAS: '0' }
  const value = await signUp(folder, env, options.keys)
  const views = ['--days', `${options.days}`, '--views', `${options.viewsPerDay}`]
  await runScript(env, 'scripts/demo-rum.ts', '--email', EMAIL, '--site', SITE, ...views)
  addPast(folder, options.auditRows)
  if (options.addPeople !== undefined) {
    await runScript(env, 'scripts/user.ts', '--email', EMAIL, '--role', 'operator')
    const db = openDb(join(folder, 'app.db'))
    options.addPeople(db)
    db.$client.close()
  }
  const { url } = stack.use(await startServer(folder, env))
  const { CHROMIUM: executablePath = '/usr/bin/chromium' } = process.env
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  stack.defer(() => browser.close())
  const owned = stack.move()
  return {
    url,
    async openPage(height: number): Promise<Page> {
      const context = await browser.newContext({ viewport: { width: WIDTH, height } })
      await context.addCookies([{ name: 'meridian_dashboard', value, url: `${url}/app` }])
      return context.newPage()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const NAMES = ['Production server', 'Log analysis', 'Staging server', 'Checkout', 'Fraud check']
const SHOP_FRONT = { name: 'Shop front', type: 'publishable', allowedOrigins: [SITE] }
const Token = v.object({ token: v.string() })
const Created = v.object({ rawKey: v.string() })

/** Signs the user up, then creates and uses keys. Returns the session token. */
async function signUp(folder: string, env: Environment, keys: number): Promise<string> {
  await using server = await startServer(folder, env)
  const { url } = server
  const user = { name: 'Ada', email: EMAIL, password: crypto.randomUUID() }
  const { token } = await postJson(`${url}/api/auth/sign-up/email`, user, Token)
  await runScript(env, 'scripts/user.ts', '--email', EMAIL, '--plan', 'pro')
  const headers = { authorization: `Bearer ${token}` }
  for (let n = 0; n < keys; n++) {
    const body = n === 1 ? SHOP_FRONT : { name: NAMES[n % NAMES.length] ?? '' }
    const { rawKey } = await postJson(`${url}/v1/account/me/keys`, body, Created, headers)
    await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': rawKey, origin: SITE } })
  }
  return token
}

const USAGE_DAYS = 30
/** Relative number of requests per weekday. The first is Thursday, as 1970-01-01 was a Thursday. */
const WEEKDAY_SHARES = [1, 0.95, 0.42, 0.38, 0.9, 1.04, 1.1]
const REQUESTS_PER_DAY = 2_300
const ACTIONS = ['create_key', 'revoke_key', 'renew_key', 'create_site', 'delete_site', 'login']

/** Adds a month of requests for each key, and entries to the audit log. */
function addPast(folder: string, auditRows: number): void {
  const { $client: client } = openDb(join(folder, 'app.db'))
  const idsOf = (sql: string, by: string) => client.prepare<[string], string>(sql).pluck().all(by)
  const [userId = ''] = idsOf('SELECT id FROM users WHERE email = ?', EMAIL)
  const keyIds = idsOf('SELECT id FROM api_keys WHERE user_id = ? ORDER BY id', userId)
  const addDay = client.prepare(
    `INSERT OR REPLACE INTO usage_by_operation (day, user_id, key_id, operation, status, requests, look_ups)
     VALUES (@day, @userId, @keyId, 'locateAddress', 200, @lookUps, @lookUps)`,
  )
  const addToPeriod = client.prepare(
    'UPDATE usage_by_period SET requests = requests + ? WHERE user_id = ?',
  )
  const addAudit = client.prepare(
    `INSERT INTO audit_log (app, actor_id, actor_label, action, target_type, target_id, detail, created_at)
     VALUES ('api', ?, ?, ?, 'site', ?, ?, ?)`,
  )
  const now = Date.now()
  const today = Math.floor(now / DAY_MS)
  const addUsage = (keyId: string, share: number) => {
    for (let day = today - USAGE_DAYS + 1; day < today; day++) {
      const requests = Math.round((WEEKDAY_SHARES[day % 7] ?? 1) * REQUESTS_PER_DAY * share)
      addDay.run({ day, userId, keyId, lookUps: requests + ((day * 37) % 211) })
      if (day > today - USAGE_DAYS / 2) addToPeriod.run(requests, userId)
    }
  }
  client.transaction(() => {
    for (const [at, keyId] of keyIds.entries()) addUsage(keyId, 1 / (at + 1))
    for (let n = 0; n < auditRows; n++) {
      const time = now - (auditRows - n) * MINUTE_MS
      const row = [ACTIONS[n % ACTIONS.length], crypto.randomUUID(), `https://shop-${n}.example`]
      addAudit.run(userId, EMAIL, ...row, time)
    }
  })()
  client.close()
}

async function runScript(env: Environment, ...args: string[]): Promise<void> {
  const [program, ...options] = NODE_COMMAND
  await promisify(execFile)(program, [...options, ...args], { env })
}

function startServer(folder: string, env: Environment) {
  return startProcess({ folder, command: [...NODE_COMMAND, 'server.ts'], env })
}
