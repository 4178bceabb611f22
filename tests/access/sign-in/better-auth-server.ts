import type { IncomingMessage } from 'node:http'
import { betterAuth } from 'better-auth'
import { type MemoryDB, memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { bearer } from 'better-auth/plugins'
import { startLoopbackServer } from '../../support/loopback-server.ts'

/*
 * An auth service as operators run it, in its own process: better-auth with its bearer plugin,
 * without our code. `POST /mode` with the name of one of MODES as the body makes it misbehave.
 */

const memory: MemoryDB = { user: [], session: [], account: [], verification: [] }
const auth = betterAuth({
  baseURL: 'http://auth.example',
  trustedOrigins: ['http://127.0.0.1:*'],
  secret: crypto.randomUUID() + crypto.randomUUID(),
  database: memoryAdapter(memory),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  rateLimit: { enabled: true },
  plugins: [bearer()],
})
const handle = toNodeHandler(auth)

function bearerOf({ headers }: IncomingMessage): string {
  return headers.authorization?.split(' ')[1] ?? ''
}

const HTML = '<!doctype html><title>Bad gateway</title>'
const MODES: Readonly<Record<string, { status: number; body: string } | 'silent'>> = {
  ...{ silent: 'silent', html: { status: 200, body: HTML }, empty: { status: 200, body: '' } },
  limited: { status: 429, body: '{"message":"Too many requests. Please try again later."}' },
  ...{ broken: { status: 500, body: '{}' }, moved: { status: 302, body: '' } },
  shapeless: { status: 200, body: '{"user":{"id":7},"session":true}' },
  revealing: {
    status: 200,
    body: '{"session":{"token":"TOKEN","expiresAt":7},"user":{"id":"u","email":"a@b.example"}}',
  },
  quoting: { status: 200, body: 'TOKEN is not JSON' },
  endless: { status: 200, body: `"${'x'.repeat(1_000_000)}"` },
  truncated: { status: 200, body: '{"session":{"expiresAt":' },
}
let mode = ''
let asked = 0

const { origin } = await startLoopbackServer(async (request, response) => {
  if (request.url === '/mode') {
    mode = Buffer.concat(await request.toArray()).toString()
    response.end()
    return
  }
  if (request.url === '/asked') {
    response.end(String(asked))
    return
  }
  if (request.url?.startsWith('/api/auth/get-session')) asked += 1
  const sick = MODES[mode]
  if (sick === undefined) {
    await handle(request, response)
    return
  }
  if (sick === 'silent') return
  response
    .writeHead(sick.status, { location: '/elsewhere' })
    .end(sick.body.replace('TOKEN', bearerOf(request)))
})
process.stdout.write(`${origin}\n`)
