import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type LocalDb, openDb, type SqliteDb } from '../../../lib/db/open.ts'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import type { Entry } from '../../../lib/rum/ingest/journal.ts'
import { SiteFold } from '../../../lib/rum/rows/site-fold.ts'
import { siteWrites } from '../../../lib/rum/rows/site-writes.ts'
import { createWriteQueue, type Write } from '../../../lib/rum/rows/write-queue.ts'
import { encodeMeasures } from '../../../lib/rum/sketch/measures-blob.ts'
import { createRumStore } from '../../../lib/rum/store/store.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { NOON } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openRum, type TestRum } from '../open-rum.ts'

/* Checkpoints that stop between two transactions, as if the process had been killed. */

const folder = tempFolder()
const ENTRIES = 1_500
const PAGES = 600
const KINDS = 230
let files = 0

/** More pages and kinds of errors than the limits allow. */
const entries = Array.from({ length: ENTRIES }, (_, at) => toEntry(at + 1))

function toEntry(id: number): Entry {
  const random = createRandom(id)
  const beacon = keepBeacon({
    path: `/p${Math.floor(PAGES * random())}`,
    deviceType: random() < 0.5 ? 'mobile' : 'desktop',
    connectionType: random() < 0.5 ? '4g' : '3g',
    metrics: { lcp: Math.round(5_000 * random()), cls: random() < 0.2 ? 101 : 0 },
    attribution: { lcp: `img.no${Math.floor(10 * random())}`, cls: 'div.ad' },
    errors: [{ message: 'no', line: Math.floor(KINDS * random()) }],
  })
  const receivedAt = NOON - Math.floor(2 * random()) * 3_600_000 + id
  return { siteId: 'site', id, receivedAt, country: random() < 0.5 ? 'GB' : '', beacon }
}

/** The contents of all tables without `last_id`. */
function contents(db: LocalDb): unknown[] {
  const tables = ['rum_hours', 'rum_sketches', 'rum_days', 'rum_pages', 'rum_errors', 'rum_counts']
  return [...tables, 'rum_error_samples', 'rum_attribution', 'rum_journal'].map((table) =>
    db.$client
      .prepare(`SELECT * FROM ${table}`)
      .all()
      .map((row) => JSON.stringify({ ...Object(row), last_id: undefined })),
  )
}

/** Opens without waiting for the disk: writes survive the end of the process anyway. */
function openQuick(file: string): LocalDb {
  const db = openDb(file)
  db.$client.pragma('synchronous = OFF')
  return db
}

function open(db: LocalDb): TestRum {
  return openRum({ db, findCountry: () => undefined, onError: assert.ifError })
}

/** Opens telemetry as the next process would, and closes it. */
async function restart(file: string): Promise<LocalDb> {
  const db = openQuick(file)
  await open(db)[Symbol.asyncDispose]()
  return db
}

interface Run {
  /** The number of entries before the checkpoint. */
  readonly before: number
  /** The number of entries between two of its transactions. */
  readonly between: number
  /** The number of transactions before the crash. */
  readonly transactions: number
}

/** Folds entries, makes some writes of a checkpoint, and stops as a crash would. */
function crash(file: string, { before, between, transactions }: Run): void {
  const db = openQuick(file)
  const store = createRumStore(db)
  const site = new SiteFold(store, 'site')
  const left = [...entries]
  const take = (count: number) => {
    const some = left.splice(0, count)
    store.addEntries(some)
    for (const entry of some) site.add(entry)
  }
  take(before)
  const writes: Write[] = []
  writes.push(...siteWrites(store, site, (write) => writes.push(write)))
  for (const item of writes.slice(0, transactions)) {
    db.$client.transaction(() => item.write())()
    item.written()
    take(between)
  }
  take(left.length)
  db.$client.close()
}

function newFile(): string {
  return join(folder, `${files++}.db`)
}

async function uninterrupted(): Promise<unknown[]> {
  const file = newFile()
  crash(file, { before: ENTRIES, between: 0, transactions: 0 })
  return contents(await restart(file))
}

it('after an upgrade, beacons that the rows of an earlier release include do not count again', async () => {
  const db = openDb(':memory:')
  const [one, two, three] = entries
  assert.ok(one !== undefined && two !== undefined && three !== undefined)
  const onPage = [one, two, three].map((entry) => ({
    ...entry,
    beacon: { ...entry.beacon, path: '/p' },
    receivedAt: NOON,
  }))
  createRumStore(db).addEntries(onPage)
  const earlier = 'INSERT INTO rum_paths VALUES (?, ?, ?, 2, ?, ?)'
  const day = Math.floor(NOON / DAY_MS)
  db.$client.prepare(earlier).run('site', day, '/p', encodeMeasures({}), two.id)
  await open(db)[Symbol.asyncDispose]()
  const stored = db.$client.prepare('SELECT device, samples, last_id FROM rum_pages').raw().all()
  assert.deepEqual(stored, [[three.beacon.device, 1, three.id]])
  db.$client.close()
})

describe('an interrupted checkpoint', async () => {
  const wanted = await uninterrupted()

  it('is completed by a restart, and each beacon counts once', async () => {
    const others = String(wanted).match(/\(other( errors)?\)/g)
    assert.deepEqual(new Set(others), new Set(['(other)', '(other errors)']))
    const AnyRun = fc.record({
      before: fc.nat(ENTRIES),
      between: fc.nat(3),
      transactions: fc.nat(800),
    })
    const check = async (run: Run) => {
      const file = newFile()
      crash(file, run)
      const db = await restart(file)
      assert.deepEqual(contents(db), wanted)
      db.$client.close()
    }
    const examples: [Run][] = [
      [{ before: ENTRIES, between: 0, transactions: 1 }],
      [{ before: ENTRIES, between: 0, transactions: 1_000 }],
      [{ before: 1_000, between: 1, transactions: 1_000 }],
    ]
    await fc.assert(fc.asyncProperty(AnyRun, check), { numRuns: 15, examples })
  })

  it('is completed even after several interruptions', async () => {
    const file = newFile()
    crash(file, { before: ENTRIES, between: 0, transactions: 300 })
    for (const transactions of [5, 0, 150]) {
      const db = openQuick(file)
      const store = createRumStore(db)
      const site = new SiteFold(store, 'site')
      for (const entry of store.readEntries({ siteId: '', id: 0 }, ENTRIES)) site.add(entry)
      for (const item of siteWrites(store, site, () => {}).slice(0, transactions)) {
        item.write()
        item.written()
      }
      db.$client.close()
    }
    assert.deepEqual(contents(await restart(file)), wanted)
  })
})

describe('openRum', () => {
  it('starts while another process holds the lock, and writes later', async () => {
    const file = newFile()
    crash(file, { before: ENTRIES, between: 0, transactions: 300 })
    const [db, other] = [openQuick(file), openQuick(file)]
    other.$client.exec('BEGIN IMMEDIATE')
    const rum = open(db)
    other.$client.exec('COMMIT')
    await rum[Symbol.asyncDispose]()
    assert.deepEqual(contents(db), await uninterrupted())
  })
})

describe('lastEntryId', () => {
  it('includes the ids in rows, even if the journal is empty', async () => {
    const file = newFile()
    crash(file, { before: ENTRIES, between: 0, transactions: 0 })
    const db = await restart(file)
    assert.equal(createRumStore(db).lastEntryId(), ENTRIES)
  })
})

function openCounter(name: string): SqliteDb {
  const db = openDb(join(folder, name))
  db.$client.exec('CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT')
  return db
}

/** A counter that adds its unwritten count to the row with its id. */
function createItem({ $client }: SqliteDb, id: number): Write & { pending: number } {
  const add = $client.prepare(
    'INSERT INTO counter VALUES (?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
  )
  const item = {
    pending: 1,
    write: () => {
      add.run(id, item.pending)
    },
    written: () => {
      item.pending = 0
    },
  }
  return item
}

const total = ({ $client }: SqliteDb) => $client.prepare('SELECT sum(n) FROM counter').pluck().get()

describe('the queue of writes', () => {
  it('writes each item once, in several transactions', () => {
    const db = openCounter('once.db')
    const queue = createWriteQueue(db)
    for (let id = 0; id < 30_000; id++) queue.add(createItem(db, id))
    queue.writeChunk()
    assert.ok(queue.size() > 0)
    queue.writeAll()
    queue.writeAll()
    assert.equal(total(db), 30_000)
    assert.equal(queue.size(), 0)
  })

  it('keeps items that it cannot write and writes them later', () => {
    const db = openCounter('failing.db')
    const queue = createWriteQueue(db)
    const item = createItem(db, 1)
    queue.add(item)
    db.$client.exec(
      "CREATE TRIGGER t BEFORE INSERT ON counter BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    assert.throws(() => queue.writeAll(), /no/)
    assert.equal(item.pending, 1)
    item.pending += 1
    db.$client.exec('DROP TRIGGER t')
    queue.writeAll()
    assert.equal(total(db), 2)
    assert.equal(item.pending, 0)
  })

  it('does not wait for the lock of another process', () => {
    const db = openCounter('locked.db')
    const queue = createWriteQueue(db)
    queue.add(createItem(db, 1))
    const other = openDb(join(folder, 'locked.db'))
    other.$client.exec('BEGIN IMMEDIATE')
    const asked: unknown[] = []
    const pragma = db.$client.pragma.bind(db.$client)
    db.$client.pragma = (source, options) => {
      asked.push(source)
      return pragma(source, options)
    }
    assert.throws(() => queue.writeAll(), /locked/)
    assert.deepEqual(asked, ['busy_timeout', 'busy_timeout = 0', 'busy_timeout = 100'])
    other.$client.exec('COMMIT')
    queue.writeAll()
    assert.equal(total(db), 1)
  })
})
