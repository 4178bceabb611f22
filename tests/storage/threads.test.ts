import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { openPlain } from '../../lib/db/connection.ts'
import { NOTHING_PENDING } from '../../lib/db/ledger/pending-counts.ts'
import { users } from '../../lib/db/tables.ts'
import { runInTransaction, transact } from '../../lib/db/transaction.ts'
import { keepBeacon } from '../../lib/rum/ingest/beacon.ts'
import { openStorage } from '../../lib/storage/open-storage.ts'
import type { SqliteStorage } from '../../lib/storage/storage.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const NEVER = new AbortController().signal
const PERIOD = { from: 0, to: 1_000_000 }
const BEACON = keepBeacon({ metrics: { lcp: 7 } })
const DRAFT = { siteId: 'site', receivedAt: NOON, country: 'GB', beacon: BEACON }
let files = 0
let file: string
let storage: SqliteStorage
beforeEach(() => {
  file = join(folder, `${files++}.db`)
  storage = open()
})
afterEach(async () => {
  await storage[Symbol.asyncDispose]()
})

const fail = (error: unknown) => assert.fail(String(error))

function open(): SqliteStorage {
  const now = () => NOON
  return openStorage({ file, replicated: false, now, onError: fail, onCrash: fail })
}

const user = (email: string) => insertUser(storage.db, newUser({ email, plan: 'free', now: NOON }))

const count = (client = storage.db.$client) =>
  client.prepare('SELECT count(*) FROM users').pluck().get()

const countSlowly = async () => (await storage.longReads.select().from(users).all()).length

describe('storage in threads', () => {
  it('shows a write to every connection once it has resolved', async () => {
    await user('ada@example.com').run()
    assert.equal(count(), 1)
    assert.equal(await countSlowly(), 1)
  })

  it('refuses to write in the thread that answers, and in the one that reads', async () => {
    const sql = "UPDATE users SET plan = 'pro'"
    assert.throws(() => storage.db.$client.exec(sql), /readonly/)
    await assert.rejects(storage.longReads.execute({ sql, params: [] }), /readonly/)
  })

  it('runs a list all or none', async () => {
    const twice = [user('ada@example.com'), user('bob@example.com')] as const
    const [sql, params] = ['INSERT INTO users (id) VALUES (?)', [null]]
    const bad = { toSQL: () => ({ sql, params }), run: assert.fail }
    await assert.rejects(runInTransaction(storage.db, [...twice, bad]), { code: /^SQLITE_/ })
    assert.equal(count(), 0)
    assert.equal(await runInTransaction(storage.db, twice), true)
    assert.equal(count(), 2)
  })

  it('lets all other writes wait for a transaction', async () => {
    const order: string[] = []
    const changing = transact(storage.db, async (queries) => {
      await queries.execute({ sql: "UPDATE users SET plan = 'pro'", params: [] })
      const others = [
        user('ada@example.com').run(),
        storage.rum.writer.add(DRAFT),
        storage.writeCounts(NOTHING_PENDING, NEVER),
      ].map((other) => Promise.resolve(other).then(() => order.push('other')))
      for (let n = 0; n < 20; n++) await queries.select().from(users).all()
      order.push('changed')
      return others
    })
    await Promise.all(await changing)
    assert.deepEqual(order, ['changed', 'other', 'other', 'other'])
    assert.equal(count(), 1)
  })

  it('undoes a transaction that throws, and goes on', async () => {
    const failing = transact(storage.db, async (queries) => {
      const row = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
      await queries.insert(users).values(row).run()
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    await user('bob@example.com').run()
    assert.equal(count(), 1)
  })

  it('waits for the lock of another process, while this thread goes on', async () => {
    const other = openPlain(file)
    other.exec('BEGIN IMMEDIATE')
    const writing = user('ada@example.com').run()
    assert.equal(await countSlowly(), 0)
    other.exec('COMMIT')
    other.close()
    await writing
    assert.equal(count(), 1)
  })

  it('stores beacons once another process has released the lock', async () => {
    const other = openPlain(file)
    other.exec('BEGIN IMMEDIATE')
    const adding = Promise.all([storage.rum.writer.add(DRAFT), storage.rum.writer.add(DRAFT)])
    await sleep(100)
    other.exec('COMMIT')
    other.close()
    assert.deepEqual(await adding, ['stored', 'stored'])
  })

  it('counts on after the beacons that a killed process has left in the journal', async () => {
    const beacon = JSON.stringify(BEACON)
    await storage[Symbol.asyncDispose]()
    const other = openPlain(file)
    const sql =
      "INSERT INTO rum_journal (id, site_id, received_at, country, beacon) VALUES (7, 'site', ?, 'GB', ?)"
    other.prepare(sql).run(NOON, beacon)
    other.close()
    storage = open()
    assert.equal(await storage.rum.writer.add(DRAFT), 'stored')
    const ids = storage.db.$client.prepare('SELECT max(id) FROM rum_journal').pluck()
    assert.equal(ids.get(), 8)
    await storage[Symbol.asyncDispose]()
    storage = open()
    const samples = storage.db.$client.prepare('SELECT sum(samples) FROM rum_hours').pluck()
    assert.equal(samples.get(), 2)
  })

  it('stores beacons, and reads them before and after they are summed up', async () => {
    const { writer, reader } = storage.rum
    assert.equal(await writer.add(DRAFT), 'stored')
    const filter = { siteId: 'site', period: PERIOD }
    const read = async () => {
      const bytes = await reader.readSummary(filter, await writer.readLive(filter))
      return JSON.parse(new TextDecoder().decode(bytes))
    }
    const summary = await read()
    assert.equal(summary.metrics[0].lcp.p50, 7)
    await writer.checkpointSite('site')
    assert.deepEqual(await writer.readLive(filter), [])
    assert.deepEqual(await read(), summary)
    const overview = JSON.parse(await reader.readOverview(filter))
    assert.equal(overview.sampleCount, 1)
  })

  it('answers and writes what it was asked before it was closed', async () => {
    const adding = [storage.rum.writer.add(DRAFT), user('ada@example.com').run()]
    await storage[Symbol.asyncDispose]()
    const [added] = await Promise.all(adding)
    assert.equal(added, 'stored')
    storage = open()
    assert.equal(count(), 1)
  })

  it('counts the beacons of several runs', async () => {
    for (let run = 1; run <= 2; run++) {
      await Promise.all([storage.rum.writer.add(DRAFT), storage.rum.writer.add(DRAFT)])
      await storage[Symbol.asyncDispose]()
      storage = open()
    }
    const overview = await storage.rum.reader.readOverview({ siteId: 'site', period: PERIOD })
    assert.equal(JSON.parse(overview).sampleCount, 4)
  })

  it('reports a thread that cannot start', async () => {
    const crash = Promise.withResolvers<unknown>()
    const options = { file: ':memory:', replicated: false, now: () => NOON, onError: fail }
    const gone = openStorage({ ...options, onCrash: crash.resolve })
    const running = gone.db.execute({ sql: 'SELECT 1', params: [] })
    // Each thread has a `:memory:` of its own, without tables.
    assert.match(String(await crash.promise), /no such table/)
    await assert.rejects(running, /ended/)
    gone.db.$client.close()
  })
})
