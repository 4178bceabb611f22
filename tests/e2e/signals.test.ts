import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { IS_INSTALLED, RUNTIME } from '../runtime.ts'
import { newDataFolder, runScript, waitForUrl } from './process.ts'

/* Started by npm or npx, the server is the child of a child: signals reach it as a terminal sends them. */

let folder: ReturnType<typeof newDataFolder>
beforeEach(() => {
  folder = newDataFolder()
})
afterEach(() => folder.remove())

/** In a process group of its own, as a shell starts a command. */
function startInGroup(command: string, args: readonly string[]) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', MERIDIAN_GEO_ATLAS: '0', ...folder.settings }
  return waitForUrl(spawn(command, args, { env, detached: true }))
}

function countedRequests(): unknown {
  const db = new Sqlite(join(folder.dataDir, 'app.db'), { readonly: true })
  try {
    return db.prepare('SELECT sum(requests) FROM usage_by_day').pluck().get()
  } finally {
    db.close()
  }
}

const MAKE_KEY = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
const [program, ...options] = RUNTIME
const BY_NPM = [
  ['npx', 'npx', ['--no', 'tsx', 'server.ts']],
  ['npm start', 'npm', ['start']],
] as const
const WAYS = [
  ...(IS_INSTALLED ? BY_NPM : []),
  ['its runtime', program, [...options, 'server.ts']],
] as const

describe('a server in a terminal', () => {
  for (const [name, command, args] of WAYS) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      it(`started by ${name} writes all it knows on ${signal} to its group`, async () => {
        const server = await startInGroup(command, args)
        const key = (await runScript(MAKE_KEY, folder.settings)).stdout.trim()
        const headers = { 'x-api-key': key }
        const path = `${server.url}/v1/ip/81.2.69.160`
        assert.equal((await fetch(path, { headers })).status, 200)
        process.kill(-server.pid, signal)
        const { stdout } = await server.ended
        assert.match(stdout, /"route":"\/v1\/ip\/\{ipAddress\}"/)
        assert.match(stdout, /"msg":"stopped"\}\n/)
        assert.equal(countedRequests(), 1)
      })
    }
  }
})
