import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, openDb } from '../../lib/db/open.ts'
import { health } from '../../lib/db/tables.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { tempFolder } from '../support/temp-folder.ts'

const file = join(tempFolder(), 'transaction.db')

const insert = (db: Db, checkedAt: number) =>
  db.insert(health).values({ id: 1, checkedAt }).onConflictDoNothing()

describe('runInTransaction', () => {
  it('runs no further statement if the first one changes nothing', async () => {
    const db = openDb(':memory:')
    assert.equal(await runInTransaction(db, [insert(db, 1)]), true)
    assert.equal(await runInTransaction(db, [insert(db, 2), db.delete(health)]), false)
    assert.deepEqual(await db.select().from(health).all(), [{ id: 1, checkedAt: 1 }])
  })

  it('undoes the first statement if a later one fails', async () => {
    const db = openDb(':memory:')
    const failing = db.insert(health).values({ id: 2, checkedAt: 1 })
    await assert.rejects(runInTransaction(db, [insert(db, 1), failing]), /CHECK/)
    assert.deepEqual(await db.select().from(health).all(), [])
  })

  it('waits for the lock of another connection while other work continues', async () => {
    const [db, other] = [openDb(file), openDb(file)]
    other.$client.exec('BEGIN IMMEDIATE')
    let settled = false
    const done = runInTransaction(db, [insert(db, 3)]).finally(() => {
      settled = true
    })
    await nextTurn()
    assert.equal(settled, false)
    other.$client.exec('COMMIT')
    assert.equal(await done, true)
  })
})
