import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import * as v from 'valibot'
import { addUsers, writeWidePlan } from '../accounts/many-users.ts'
import { startLoad } from '../http/load.ts'
import { newDataFolder, type Running, startServer } from '../support/process.ts'
import { breakDisk, type Fault } from './broken-disk.ts'

// run: alone

/*
 * System calls on the database fail, once or repeatedly: clients that change something get an error,
 * look-ups continue, and no acknowledged write is lost.
 */

const KINDS = [
  { call: 'pwrite64', error: 'ENOSPC' },
  { call: 'pwrite64', error: 'EIO' },
  { call: 'pwrite64', error: 'EROFS' },
  { call: 'fsync,fdatasync', error: 'EIO' },
]
/** Number of the call that fails: a change makes about ten writes and one fsync. */
const NTH = [1, 2, 3, 5, 8, 13]
const MOST_CHANGES = 40
/** Enough changes to make SQLite checkpoint the log into the database file. */
const PAST_CHECKPOINT = 250
const USERS = 20
const ORIGIN = 'https://shop.example'
const Failure = v.object({ error: v.object({ code: v.literal('SERVICE_UNAVAILABLE') }) })

const { dataDir, settings: folder, remove } = newDataFolder()
const database = join(dataDir, 'app.db')
const plans = join(dataDir, 'plans.json')
const settings = { ...folder, MERIDIAN_PLANS: plans, MERIDIAN_CONTACT: 'store' }

let keys: string[]
let server: Running
before(async () => {
  writeWidePlan(plans)
  keys = await addUsers(database, plans, USERS)
  server = await startServer(settings)
  assert.equal(await addSite(ORIGIN), 201)
  await server.stop('SIGTERM')
})
afterEach(() => server.stop('SIGKILL'))
after(remove)

/** Names of sites, by the outcome of their creation. */
const acknowledged = new Set<string>()
const refused = new Set<string>()

let users = 0

/** Sends each request as another user, since requests per user are limited. */
async function post(path: string, body: object): Promise<number> {
  users += 1
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': keys[users % USERS] ?? '', origin: ORIGIN },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (answer.status >= 500) v.parse(Failure, JSON.parse(text))
  return answer.status
}

async function addSite(name = `https://${crypto.randomUUID()}.example`): Promise<number> {
  const status = await post('/v1/account/me/sites', { name })
  assert.ok(status === 201 || status === 503, `${status}`)
  const names = status === 201 ? acknowledged : refused
  names.add(name)
  return status
}

async function healthStatus(): Promise<number> {
  const answer = await fetch(`${server.url}/health`)
  await answer.text()
  return answer.status
}

async function healthBecomes(status: number): Promise<void> {
  const deadline = performance.now() + 10_000
  while ((await healthStatus()) !== status)
    assert.ok(performance.now() < deadline, `health did not become ${status}`)
}

/** Reads the database file, which no server may have open. */
function readStored() {
  const db = new Sqlite(database)
  try {
    assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }])
    const names = db.prepare<[], string>('SELECT name FROM sites').pluck().all()
    const counted = db
      .prepare('SELECT coalesce(sum(requests), 0) FROM usage_by_period')
      .pluck()
      .get()
    const audited = "SELECT detail FROM audit_log WHERE action = 'create_site'"
    assert.deepEqual(db.prepare(audited).pluck().all().toSorted(), names.toSorted())
    return { names: new Set(names), counted: Number(counted) }
  } finally {
    db.close()
  }
}

describe('a failing system call of the database', () => {
  for (const kind of KINDS) {
    it(`stops no look-up and loses no acknowledged write, whether one call or every call fails: ${kind.error} at ${kind.call}`, async (t) => {
      const earlier = readStored()
      const before = refused.size
      server = await startServer(settings)
      const load = startLoad(server.url, keys[0] ?? '', 2)
      for (const n of NTH) await failOnce({ ...kind, when: String(n) })
      await failAlways({ ...kind, when: '1+' })
      load.stop()
      await load.ended
      const { code, stdout } = await server.stop('SIGTERM')
      assert.equal(code, 0, stdout)
      assert.deepEqual(load.others, [], 'all look-ups are answered')
      const stored = readStored()
      assert.deepEqual(stored.names, acknowledged, 'exactly the acknowledged writes are stored')
      assert.equal(stored.counted - earlier.counted, load.answeredAt.length)
      t.diagnostic(`${refused.size - before} refused, ${load.answeredAt.length} look-ups answered`)
    })

    it(`loses no acknowledged write if kill -9 follows: ${kind.error} at ${kind.call}`, async () => {
      server = await startServer(settings)
      assert.equal(await addSite(), 201)
      const disk = await breakDisk(server, dataDir, { ...kind, when: '1+' })
      assert.equal(await addSite(), 503)
      await server.stop('SIGKILL')
      await disk.mend()
      const { names } = readStored()
      for (const name of acknowledged) assert.ok(names.has(name), `${name} is lost`)
      for (const name of names) assert.ok(acknowledged.has(name) || refused.has(name), name)
      // Writes in the log may be kept although the client got a 503.
      for (const name of names) acknowledged.add(name)
    })
  }

  async function failOnce(fault: Fault): Promise<void> {
    const disk = await breakDisk(server, dataDir, fault)
    for (let n = 0; n < MOST_CHANGES && disk.failed() === 0; n++) await addSite()
    await disk.mend()
    assert.equal(disk.failed(), 1)
    assert.equal(await addSite(), 201)
  }

  async function failAlways(fault: Fault): Promise<void> {
    const disk = await breakDisk(server, dataDir, fault)
    for (let n = 0; n < 3; n++) assert.equal(await addSite(), 503)
    assert.equal(await post('/v1/account/me/keys', { name: 'second' }), 503)
    assert.equal(await post('/v1/billing/contact', { name: 'Ada', message: 'Hello' }), 503)
    const beacon = { path: '/', deviceType: 'mobile', metrics: { lcp: 1_200 } }
    assert.equal(await post('/v1/telemetry/rum', beacon), 503)
    await healthBecomes(503)
    await disk.mend()
    await healthBecomes(200)
    assert.equal(await addSite(), 201)
  }
})

describe('a database file that cannot be written while its log can', () => {
  it('loses nothing, because the log holds the writes', async (t) => {
    server = await startServer(settings)
    const fault = { call: 'pwrite64', error: 'EIO', when: '1+', files: ['app.db'] }
    const disk = await breakDisk(server, dataDir, fault)
    for (let n = 0; n < PAST_CHECKPOINT; n++) assert.equal(await addSite(), 201)
    await server.stop('SIGKILL')
    t.diagnostic(`${disk.failed()} writes failed`)
    assert.ok(disk.failed() > 0)
    await disk.mend()
    assert.deepEqual(readStored().names, acknowledged)
  })
})
