import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { IS_INSTALLED, RUNTIME } from '../runtime.ts'
import { newDataFolder, runScript, waitForUrl } from './process.ts'

/*
 * Started by npx, the server is the child of a child: signals reach it as a terminal sends them, to
 * the group. npm passes on what it is told alone, as supervisors do.
 */

const { dataDir, settings, remove } = newDataFolder()
after(remove)

let key: string
before(async () => {
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
  key = (await runScript(args, settings)).stdout.trim()
})

/** In a process group of its own, as a shell starts a command. */
function startInGroup(command: string, args: readonly string[]) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', MERIDIAN_GEO_ATLAS: '0', ...settings }
  return waitForUrl(spawn(command, args, { env, detached: true }))
}

function countedRequests(): number {
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  try {
    return Number(db.prepare('SELECT sum(requests) FROM usage_by_day').pluck().get())
  } finally {
    db.close()
  }
}

const NPX = ['npx', ['--no', 'tsx', 'server.ts']] as const
const NPM = ['npm', ['start']] as const
const [program, ...options] = RUNTIME
const ALONE = [program, [...options, 'server.ts']] as const
const toGroup = (pid: number) => -pid
const toItAlone = (pid: number) => pid

const BY_NPM = [
  ['npx', NPX, 'its group', toGroup],
  ['npm start', NPM, 'its group', toGroup],
  ['npm start', NPM, 'npm alone', toItAlone],
] as const
const WAYS = [
  ...(IS_INSTALLED ? BY_NPM : []),
  ['its runtime', ALONE, 'its group', toGroup],
] as const

describe('a server', () => {
  for (const [name, [command, args], told, target] of WAYS) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      it(`started by ${name} writes all it knows on ${signal} to ${told}`, async () => {
        const counted = countedRequests()
        const server = await startInGroup(command, args)
        const headers = { 'x-api-key': key }
        const path = `${server.url}/v1/ip/81.2.69.160`
        assert.equal((await fetch(path, { headers })).status, 200)
        process.kill(target(server.pid), signal)
        const { stdout } = await server.ended
        assert.match(stdout, /"route":"\/v1\/ip\/\{ipAddress\}"/)
        assert.match(stdout, /"msg":"stopped"\}\n/)
        assert.equal(countedRequests(), counted + 1)
      })
    }
  }
})
