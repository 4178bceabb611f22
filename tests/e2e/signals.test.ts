import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { newDataFolder, runScript, waitForUrl } from './process.ts'

/*
 * Started by npx, the server is the child of a child: signals reach it as a terminal sends them, to
 * the group. npm passes on what it is told alone, as supervisors do.
 */

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

const NPX = ['npx', ['--no', 'tsx', 'server.ts']] as const
const NPM = ['npm', ['start']] as const
const toGroup = (pid: number) => -pid
const toItAlone = (pid: number) => pid

const WAYS = [
  ['npx', NPX, 'its group', toGroup],
  ['npm start', NPM, 'its group', toGroup],
  ['npm start', NPM, 'npm alone', toItAlone],
] as const

describe('a server', () => {
  for (const [name, [command, args], told, target] of WAYS) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      it(`started by ${name} writes all it knows on ${signal} to ${told}`, async () => {
        const server = await startInGroup(command, args)
        const options = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
        const key = (await runScript(options, folder.settings)).stdout.trim()
        const headers = { 'x-api-key': key }
        const path = `${server.url}/v1/ip/81.2.69.160`
        assert.equal((await fetch(path, { headers })).status, 200)
        process.kill(target(server.pid), signal)
        const { stdout } = await server.ended
        assert.match(stdout, /"route":"\/v1\/ip\/\{ipAddress\}"/)
        assert.match(stdout, /"msg":"stopped"\}\n/)
        assert.equal(countedRequests(), 1)
      })
    }
  }
})
