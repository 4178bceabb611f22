import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createFlusher, type Unwritten } from '../../lib/db/flusher.ts'
import { type Db, openDb } from '../../lib/db/open.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()

function openCounter(name: string): Db {
  const db = openDb(join(folder, name))
  db.$client.exec('CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT')
  return db
}

/** A counter that adds its unwritten count to the row with its id. */
function createItem({ $client }: Db, id: number): Unwritten & { pending: number } {
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

const total = ({ $client }: Db) => $client.prepare('SELECT sum(n) FROM counter').pluck().get()

describe('createFlusher', () => {
  it('reports how long the oldest item has waited, even if writing fails', async () => {
    const db = openCounter('lag.db')
    const flusher = createFlusher(db)
    assert.equal(flusher.lagMs(), 0)
    flusher.add({ ...createItem(db, 1), write: () => assert.fail('no') })
    const addedBy = performance.now()
    await assert.rejects(flusher.flush())
    flusher.add(createItem(db, 2))
    const askedAt = performance.now()
    assert.ok(flusher.lagMs() >= askedAt - addedBy)
  })

  it('writes each item once', async () => {
    const db = openCounter('once.db')
    const flusher = createFlusher(db)
    for (let id = 0; id < 5_000; id++) flusher.add(createItem(db, id))
    await flusher.flush()
    await flusher.flush()
    assert.equal(total(db), 5_000)
    assert.equal(flusher.size(), 0)
  })

  it('lets other work run between transactions and leaves new items for the next flush', async () => {
    const db = openCounter('turns.db')
    const flusher = createFlusher(db)
    for (let id = 0; id < 30_000; id++) flusher.add(createItem(db, id))
    let turns = 0
    let next: NodeJS.Immediate
    const takeTurn = () => {
      turns += 1
      flusher.add(createItem(db, 100_000 + turns))
      next = setImmediate(takeTurn)
    }
    // Queued before the turn that the flusher takes after its last transaction.
    next = setImmediate(takeTurn)
    const startedAt = performance.now()
    await flusher.flush()
    clearImmediate(next)
    assert.ok(turns > 1)
    assert.equal(flusher.size() > 0, true)
    assert.ok(
      flusher.lagMs() <= performance.now() - startedAt,
      'the waiting items were queued after the flush began',
    )
    flusher.flushNow()
    assert.equal(total(db), 30_000 + turns)
  })

  it('ends if another call writes the remaining items meanwhile', async () => {
    const db = openCounter('ends.db')
    const flusher = createFlusher(db)
    for (let id = 0; id < 20_000; id++) flusher.add(createItem(db, id))
    const flushing = flusher.flush()
    flusher.flushNow()
    await flushing
    assert.equal(total(db), 20_000)
  })

  it('keeps items that it cannot write and writes them later', () => {
    const db = openCounter('failing.db')
    const flusher = createFlusher(db)
    const item = createItem(db, 1)
    flusher.add(item)
    db.$client.exec(
      "CREATE TRIGGER t BEFORE INSERT ON counter BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    assert.throws(() => flusher.flushNow(), /no/)
    assert.equal(item.pending, 1)
    item.pending += 1
    db.$client.exec('DROP TRIGGER t')
    flusher.flushNow()
    assert.equal(total(db), 2)
    assert.equal(item.pending, 0)
  })

  it('does not wait for the lock of another process', () => {
    const db = openCounter('locked.db')
    const flusher = createFlusher(db)
    flusher.add(createItem(db, 1))
    const other = openDb(join(folder, 'locked.db'))
    other.$client.exec('BEGIN IMMEDIATE')
    const asked: unknown[] = []
    const pragma = db.$client.pragma.bind(db.$client)
    db.$client.pragma = (source, options) => {
      asked.push(source)
      return pragma(source, options)
    }
    assert.throws(() => flusher.flushNow(), /locked/)
    assert.deepEqual(asked, ['busy_timeout', 'busy_timeout = 0', 'busy_timeout = 100'])
    other.$client.exec('COMMIT')
    flusher.flushNow()
    assert.equal(total(db), 1)
  })
})
