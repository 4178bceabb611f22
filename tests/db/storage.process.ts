import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import * as v from 'valibot'
import { HealthStatus } from '../../lib/contract/system.ts'
import {
  newDataFolder,
  type Running,
  runScript,
  startServer,
  untilHealthy,
} from '../support/process.ts'
import { tempFolder } from '../support/temp-folder.ts'

// run: alone

const FLUSHES_MS = 2_500
const folder = newDataFolder()
after(folder.remove)

interface Service {
  readonly server: Running
  readonly dataDir: string
  readonly key: string
  readonly settings: Readonly<Record<string, string>>
}

async function startService(dataDir: string): Promise<Service> {
  const plans = join(dataDir, 'plans.json')
  const limits = { maxKeys: 10, maxSites: 1, monthlyCap: 10 ** 9, requestsPerMinute: 10 ** 6 }
  writeFileSync(plans, JSON.stringify([{ id: 'free', name: 'Free', price: 0, ...limits }]))
  const settings = { ...folder.settings, MERIDIAN_DATA_DIR: dataDir, MERIDIAN_PLANS: plans }
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'load', '--scopes', 'all']
  const key = (await runScript(args, settings)).stdout.trim()
  return { server: await startServer(settings), dataDir, key, settings }
}

/** Sends one look-up after the other for `ms`. All must get 200. Returns their number. */
async function askFor(ms: number, { server, key }: Service): Promise<number> {
  const end = performance.now() + ms
  let answered = 0
  while (performance.now() < end) {
    const headers = { 'x-api-key': key }
    const answer = await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })
    await answer.text()
    assert.equal(answer.status, 200)
    answered += 1
  }
  return answered
}

async function readHealth({ server }: Service) {
  const answer = await fetch(`${server.url}/health`)
  return { status: answer.status, ...v.parse(HealthStatus, await answer.json()).checks }
}

async function addSite({ server, key }: Service): Promise<number> {
  const answer = await fetch(`${server.url}/v1/account/me/sites`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: '{"name":"https://shop.example"}',
  })
  await answer.text()
  return answer.status
}

async function countedAfterStop({ server, dataDir }: Service): Promise<number> {
  const { code, stdout, stderr } = await server.stop('SIGTERM')
  assert.equal(code, 0, `${stdout}${stderr}`)
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  const counted = db.prepare('SELECT sum(requests) FROM usage_by_period').pluck().get()
  db.close()
  return Number(counted)
}

describe('a database that another process has locked', () => {
  it('stops no look-up, shows in health, and loses no request counted meanwhile', async () => {
    const service = await startService(folder.dataDir)
    let answered = await askFor(300, service)
    const other = new Sqlite(join(folder.dataDir, 'app.db'))
    other.exec('BEGIN IMMEDIATE')
    answered += await askFor(FLUSHES_MS, service)
    assert.deepEqual(await readHealth(service), { status: 503, geolocation: true, database: false })
    // It waits for five seconds, then fails.
    const adding = addSite(service)
    answered += await askFor(300, service)
    other.exec('ROLLBACK')
    other.close()
    assert.equal(await adding, 201, 'a change waits for the lock')
    answered += await askFor(FLUSHES_MS, service)
    await untilHealthy(service.server)
    assert.equal(await countedAfterStop(service), answered)
  })
})

const small = join(tempFolder(), 'small')
const SIZE = 16 * 1024 * 1024
const filler = join(small, 'filler')

/** Fills the disk to the last byte. */
function fill(): void {
  const { bavail, bsize } = statfsSync(small)
  writeFileSync(filler, Buffer.alloc(bavail * bsize))
}

describe('a full or read-only disk', () => {
  let mounted = false
  before(() => {
    mkdirSync(small)
    const options = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'tmpfs', small]
    mounted = spawnSync('mount', options).status === 0
    if (mounted) cpSync(join(folder.dataDir, 'geo'), join(small, 'geo'), { recursive: true })
  })
  after(() => {
    if (mounted) assert.equal(spawnSync('umount', [small]).status, 0)
  })

  it('stops no look-up, shows in health, and loses no request counted meanwhile', async (t) => {
    if (!mounted) return t.skip('only root may mount a small file system')
    const service = await startService(small)
    let answered = await askFor(300, service)
    fill()
    answered += await askFor(FLUSHES_MS, service)
    assert.deepEqual(await readHealth(service), { status: 503, geolocation: true, database: false })
    while (!service.server.output().includes('cannot write counters; they are kept'))
      await sleep(20)
    assert.equal(await addSite(service), 503)
    rmSync(filler)
    answered += await askFor(FLUSHES_MS, service)
    await untilHealthy(service.server)
    assert.equal(await addSite(service), 201)
    assert.equal(await countedAfterStop(service), answered)
  })

  it('prevents the start, with the reason in the error message', async (t) => {
    if (!mounted) return t.skip('only root may mount a small file system')
    const settings = { ...folder.settings, MERIDIAN_DATA_DIR: small, PORT: '0' }
    const failToStart = async () => {
      const { code, stderr } = await runScript(['server.ts'], settings)
      assert.equal(code, 1)
      return stderr
    }
    assert.equal(spawnSync('mount', ['-o', 'remount,ro', small]).status, 0)
    const readOnly = await failToStart()
    assert.equal(spawnSync('mount', ['-o', 'remount,rw', small]).status, 0)
    assert.match(readOnly, /^Cannot [^\n]+: [^\n]*(read-?only|unable to open)[^\n]*\n$/i)
    fill()
    assert.match(await failToStart(), /^Cannot [^\n]+: [^\n]*full[^\n]*\n$/)
  })
})
