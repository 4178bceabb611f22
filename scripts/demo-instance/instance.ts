import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { type Environment, runToEnd, type Server, startServer } from './child.ts'
import { addPast } from './past.ts'

const EMAIL = 'ada@example.com'
export const SITE = 'https://shop.example'

/** An instance with a user who has been there for a month. */
export interface Instance extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string
  /** Of a session of the user. */
  readonly token: string
}

export interface InstanceOptions {
  /** With the prepared databases. */
  readonly geoDir: string
  /** Of page views. */
  readonly days: number
  readonly viewsPerDay: number
  readonly keys: number
  /** Entries of the audit log beside those of what was really done. */
  readonly auditRows: number
}

/** Makes the instance in a folder of its own. */
export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-pictures-'))
  mkdirSync(join(dataDir, 'backups'))
  symlinkSync(resolve(options.geoDir), join(dataDir, 'geo'))
  const env = { MERIDIAN_DATA_DIR: dataDir, PORT: '0', MERIDIAN_GEO_ATLAS: '0' }
  const token = await withServer(env, (server) => settle(server, env, options))
  const much = ['--days', String(options.days), '--views', String(options.viewsPerDay)]
  await runToEnd(['scripts/demo-rum.ts', '--email', EMAIL, '--site', SITE, ...much], env)
  addPast(dataDir, { email: EMAIL, auditRows: options.auditRows, now: Date.now() })
  const server = await startServer(env)
  return {
    url: server.url,
    token,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      rmSync(dataDir, { recursive: true })
    },
  }
}

async function withServer<T>(env: Environment, use: (server: Server) => Promise<T>): Promise<T> {
  const server = await startServer(env)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

const NAMES = ['Production server', 'Log analysis', 'Staging server', 'Checkout', 'Fraud check']
const SHOP_FRONT = { name: 'Shop front', type: 'publishable', allowedOrigins: [SITE] }
const Token = v.object({ token: v.string() })
const Created = v.object({ rawKey: v.string() })

/** Signs the user up, and makes and uses keys. Returns the token of the session. */
async function settle(
  { url }: Server,
  env: Environment,
  { keys }: InstanceOptions,
): Promise<string> {
  const post = async (path: string, body: object, headers: Environment = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return response.json()
  }
  const user = { name: 'Ada', email: EMAIL, password: crypto.randomUUID() }
  const { token } = v.parse(Token, await post('/api/auth/sign-up/email', user))
  await runToEnd(['scripts/user.ts', '--email', EMAIL, '--plan', 'pro'], env)
  for (let n = 0; n < keys; n++) {
    const key = n === 1 ? SHOP_FRONT : { name: NAMES[n % NAMES.length] ?? '' }
    const headers = { authorization: `Bearer ${token}` }
    const { rawKey } = v.parse(Created, await post('/v1/account/me/keys', key, headers))
    await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': rawKey, origin: SITE } })
  }
  return token
}
