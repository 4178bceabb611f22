import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { newDataFolder, runScript, waitForUrl } from '../support/process.ts'
import { IS_PROJECT_NODE, RUNTIME } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

/*
 * npx starts the server as the child of a child. A terminal signals the whole process group; a
 * supervisor signals npm alone, which forwards the signal.
 */

const { dataDir, settings, remove } = newDataFolder()
after(remove)

let key: string
before(async () => {
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
  key = (await runScript(args, settings)).stdout.trim()
})

/** Starts the server in its own process group, as a shell does. */
function spawnInGroup(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', MERIDIAN_GEO_ATLAS: '0', ...settings, ...more }
  return spawn(command, args, { env, detached: true })
}

const startInGroup = (command: string, args: readonly string[]) =>
  waitForUrl(spawnInGroup(command, args))

function countedRequests(): number {
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  try {
    return Number(db.prepare('SELECT sum(look_ups) FROM usage_by_operation').pluck().get())
  } finally {
    db.close()
  }
}

/** Looks up an address, then sends the signal. Returns the output and how much was counted. */
async function lookUpAndStop(
  starting: ReturnType<typeof startInGroup>,
  signal: NodeJS.Signals,
  target: (pid: number) => number,
) {
  const before = countedRequests()
  const server = await starting
  const answer = await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': key } })
  assert.equal(answer.status, 200)
  process.kill(target(server.pid), signal)
  const { stdout } = await server.ended
  return { stdout, counted: countedRequests() - before }
}

const NPM = ['npm', ['start']] as const
const [program, ...options] = RUNTIME
const ALONE = [program, [...options, 'server.ts']] as const
const toGroup = (pid: number) => -pid
const toItAlone = (pid: number) => pid

const BY_NPM = [
  ['npm start', NPM, 'its group', toGroup],
  ['npm start', NPM, 'npm alone', toItAlone],
] as const
const WAYS = [
  ...(IS_PROJECT_NODE ? BY_NPM : []),
  ['its runtime', ALONE, 'its group', toGroup],
] as const

describe('a server', () => {
  for (const [name, [command, args], receiver, target] of WAYS) {
    // A closed terminal signals the group. npm itself does not forward SIGHUP.
    const others = target === toGroup ? (['SIGHUP'] as const) : []
    for (const signal of ['SIGINT', 'SIGTERM', ...others] as const) {
      it(`started by ${name} writes all its data when ${receiver} gets ${signal}`, async () => {
        const server = startInGroup(command, args)
        const { stdout, counted } = await lookUpAndStop(server, signal, target)
        assert.match(stdout, /"route":"\/v1\/ip\/\{ipAddress\}"/)
        assert.match(stdout, /"msg":"stopped"\}\n/)
        assert.equal(counted, 1)
      })
    }
  }
})

const cache = tempFolder()

/** esbuild may run in a process of the same group, which ends at the signal before the server does. */
describe('a server that nothing was compiled for before', () => {
  const ways = IS_PROJECT_NODE ? ([NPM, ALONE] as const) : ([ALONE] as const)
  for (const [command, args] of ways) {
    it(`started by ${basename(command)} stops as usual at Ctrl-C once it answers`, async () => {
      const PORT = String(await findFreePort())
      const TMPDIR = mkdtempSync(join(cache, 'empty-'))
      const child = spawnInGroup(command, args, { PORT, TMPDIR })
      const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      assert.ok(child.pid)
      const isAnswered = () =>
        fetch(`http://127.0.0.1:${PORT}/v1`).then(
          ({ ok }) => ok,
          () => false,
        )
      while (child.exitCode === null && !(await isAnswered())) await sleep(2)
      process.kill(-child.pid, 'SIGINT')
      const [stdout, stderr] = await ended
      assert.equal(child.exitCode, 0, stderr)
      assert.doesNotMatch(stderr, /error/i)
      assert.match(stdout, /"msg":"stopped"\}\n/)
    })
  }
})

/** When main/start.ts begins to load sign-in, and a moment more. */
const LOADING_MS = 3_150

describe('a server that is loading sign-in', () => {
  it('stops as usual', async () => {
    const [command, args] = ALONE
    const PORT = String(await findFreePort())
    const child = spawnInGroup(command, args, { PORT })
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    assert.ok(child.pid)
    const url = `http://127.0.0.1:${PORT}/v1`
    while (!(await fetch(url).catch(() => null))?.ok) await sleep(2)
    await sleep(LOADING_MS)
    process.kill(-child.pid, 'SIGTERM')
    const [stdout, stderr] = await ended
    assert.equal(child.exitCode, 0, stderr)
    assert.match(stdout, /"msg":"stopped"\}\n/)
  })
})
