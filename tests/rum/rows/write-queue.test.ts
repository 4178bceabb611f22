import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openDb, type SqliteDb } from '../../../lib/db/open.ts'
import { createWriteQueue, type Write } from '../../../lib/rum/rows/write-queue.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()

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
