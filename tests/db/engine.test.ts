import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { eq } from '../../lib/db/drizzle.ts'
import { type Db, openDb } from '../../lib/db/open.ts'
import type { Queries } from '../../lib/db/queries.ts'
import { health, users } from '../../lib/db/tables.ts'
import { runInTransaction, transact } from '../../lib/db/transaction.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()

const add = (queries: Queries, email: string) =>
  insertUser(queries, newUser({ email, plan: 'free', now: 1 })).run()

async function emails(db: Db): Promise<string[]> {
  const rows = await db.select({ email: users.email }).from(users).orderBy(users.email)
  return rows.map(({ email }) => email)
}

describe('transact', () => {
  it('keeps all changes of its work, and none if it fails', async () => {
    const db = openDb(':memory:')
    await transact(db, async (queries) => {
      await add(queries, 'a@example.com')
      await add(queries, 'b@example.com')
    })
    const failing = transact(db, async (queries) => {
      await add(queries, 'c@example.com')
      throw new Error('changed its mind')
    })
    await assert.rejects(failing, /changed its mind/)
    assert.deepEqual(await emails(db), ['a@example.com', 'b@example.com'])
  })

  it('lets all other statements wait, and undoes none of them', async () => {
    const db = openDb(':memory:')
    const failing = transact(db, async (queries) => {
      await add(queries, 'a@example.com')
      await add(queries, 'b@example.com')
      throw new Error('changed its mind')
    })
    const others = [
      add(db, 'c@example.com'),
      transact(db, (queries) => add(queries, 'd@example.com')),
      db.update(users).set({ name: 'Cy' }).where(eq(users.email, 'c@example.com')).run(),
    ]
    await assert.rejects(failing, /changed its mind/)
    await Promise.all(others)
    assert.deepEqual(await emails(db), ['c@example.com', 'd@example.com'])
    const cy = await db.select().from(users).where(eq(users.name, 'Cy')).get()
    assert.equal(cy?.email, 'c@example.com')
  })

  it('sees its own changes before others do', async () => {
    const db = openDb(':memory:')
    const seen = await transact(db, async (queries) => {
      await add(queries, 'a@example.com')
      return queries.select().from(users).all()
    })
    assert.equal(seen.length, 1)
  })

  it('ends within the turn in which it began', async () => {
    const db = openDb(':memory:')
    const work = transact(db, async (queries) => {
      for (let n = 0; n < 20; n++) await add(queries, `${n}@example.com`)
    })
    await nextTurn()
    assert.equal(db.$client.inTransaction, false)
    await work
    assert.equal((await emails(db)).length, 20)
  })
})

describe('a statement', () => {
  it('waits for the lock of another process while other work continues', async () => {
    const file = join(folder, 'lock.db')
    const [db, other] = [openDb(file), openDb(file)]
    other.$client.exec('BEGIN IMMEDIATE')
    let isSettled = false
    const added = add(db, 'a@example.com').finally(() => {
      isSettled = true
    })
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    assert.equal(isSettled, false)
    assert.deepEqual(await emails(db), [], 'reading waits for nobody')
    other.$client.exec('COMMIT')
    assert.equal((await added).changes, 1)
  })

  it('does not name its values if it fails, as errors are logged', async () => {
    const db = openDb(':memory:')
    const user = newUser({ email: 'ada@example.com', plan: 'free', now: 1 })
    await insertUser(db, user).run()
    const again = db.insert(users).values({ ...user, id: 'other' })
    await assert.rejects(again.run(), (error: Error) => {
      assert.match(error.message, /UNIQUE/)
      assert.doesNotMatch(`${error.message} ${error.stack}`, /ada@example/)
      return true
    })
  })

  it('finds no row as undefined, and the first row only', async () => {
    const db = openDb(':memory:')
    assert.equal(await db.select().from(users).get(), undefined)
    for (const email of ['a@example.com', 'b@example.com']) await add(db, email)
    const first = await db.select({ email: users.email }).from(users).orderBy(users.email).get()
    assert.deepEqual(first, { email: 'a@example.com' })
  })

  it('may have any number of texts, although not all stay prepared', async () => {
    const db = openDb(':memory:')
    for (let n = 0; n < 1_200; n++) {
      const { rows } = await db.execute({ sql: `SELECT ${n}, ?`, params: ['x'] })
      assert.deepEqual(rows, [[n, 'x']])
    }
  })
})

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
