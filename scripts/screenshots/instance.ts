import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { type Environment, runToEnd, type Server, startServer } from './child.ts'
import { addPastUsage } from './past-usage.ts'

const EMAIL = 'ada@example.com'
export const SITE = 'https://shop.example'

/** An instance with a user who has been there for a month. */
export interface Instance extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string
  /** Of a session of the user. */
  readonly token: string
}

/** Makes the instance in a folder of its own, with the databases of `geoDir`. */
export async function openInstance(geoDir: string): Promise<Instance> {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-pictures-'))
  mkdirSync(join(dataDir, 'backups'))
  symlinkSync(resolve(geoDir), join(dataDir, 'geo'))
  const env = { MERIDIAN_DATA_DIR: dataDir, PORT: '0', MERIDIAN_GEO_ATLAS: '0' }
  const token = await withServer(env, settle)
  const who = ['--email', EMAIL]
  await runToEnd(['scripts/user.ts', ...who, '--plan', 'pro'], env)
  await runToEnd(['scripts/demo-rum.ts', ...who, '--site', SITE], env)
  addPastUsage(dataDir, EMAIL, Date.now())
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

const KEYS = [
  { name: 'Production server' },
  { name: 'Shop front', type: 'publishable', allowedOrigins: [SITE] },
]
const Token = v.object({ token: v.string() })
const Created = v.object({ rawKey: v.string() })

/** Signs the user up, and makes and uses keys. Returns the token of the session. */
async function settle({ url }: Server): Promise<string> {
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
  for (const key of KEYS) {
    const headers = { authorization: `Bearer ${token}` }
    const { rawKey } = v.parse(Created, await post('/v1/account/me/keys', key, headers))
    await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': rawKey, origin: SITE } })
  }
  return token
}
