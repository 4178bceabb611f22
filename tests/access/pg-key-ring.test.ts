import assert from 'node:assert/strict'
import { after, before, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mintKey } from '../../lib/access/api-key.ts'
import { openPgKeyRing } from '../../lib/access/key-ring/pg-key-ring.ts'
import { readPlans } from '../../lib/config/plans.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { createPgEngine } from '../../lib/storage/pg-engine.ts'
import { openMigratedPglite } from '../support/database/pglite.ts'

let pool: PgPool
before(async () => {
  pool = await openMigratedPglite()
})
after(() => pool[Symbol.asyncDispose]())

const run = (sql: string, params: readonly unknown[] = []) =>
  pool.use((connection) => connection.query(sql, params))

async function addKey() {
  const { text, id, hash, prefix } = mintKey('secret')
  await run(
    `INSERT INTO users (id, email, plan, created_at) VALUES ('ada', 'ada@example.com', 'free', 0)
     ON CONFLICT DO NOTHING`,
  )
  await run(
    `INSERT INTO api_keys (id, user_id, hash, prefix, name, type, created_at)
     VALUES ($1, 'ada', $2, $3, 'test', 'secret', 0)`,
    [id, hash, prefix],
  )
  return { text, id }
}

/** Keys of a node that reads the database only while it is not away. */
async function openNode(t: TestContext) {
  const database = { isAway: false }
  const network: PgPool = {
    listen: (channels) => pool.listen(channels),
    [Symbol.asyncDispose]: async () => {},
    use: (work) =>
      database.isAway ? Promise.reject(new Error('PostgreSQL is away')) : pool.use(work),
  }
  const options = { engine: createPgEngine(pool), onError: () => {}, staleMs: 60_000 }
  const keys = await openPgKeyRing({ ...options, pool: network, plans: readPlans(undefined) })
  t.after(() => keys[Symbol.asyncDispose]())
  return { database, keys }
}

it('keys that are unknown while the database cannot be read may be new ones, and are 503', async (t) => {
  const known = await addKey()
  const { database, keys } = await openNode(t)
  const unknown = mintKey('secret').text
  assert.equal(keys.find(unknown, 0), null)
  database.isAway = true
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 3_000)
  assert.throws(() => keys.find(unknown, 0), { code: 'SERVICE_UNAVAILABLE' })
  assert.equal(keys.find('no key', 0), null)
  assert.notEqual(keys.find(known.text, 0), null)
})

async function readRevision(): Promise<number> {
  const { rows } = await run('SELECT max(revision) FROM access_changes')
  return Number(rows[0]?.[0])
}

it('keys are those of a promoted standby, although it lacks changes that are in memory', async () => {
  const kept = await addKey()
  const revision = await readRevision()
  const lost = await addKey()
  const newest = await readRevision()
  const engine = createPgEngine(pool)
  const options = { pool, engine, onError: assert.ifError, staleMs: 60_000 }
  await using keys = await openPgKeyRing({ ...options, plans: readPlans(undefined) })
  assert.notEqual(keys.find(kept.text, 0), null)
  assert.notEqual(keys.find(lost.text, 0), null)

  // The standby has the first change alone.
  await run('ALTER TABLE api_keys DISABLE TRIGGER USER')
  await run('DELETE FROM api_keys WHERE id = $1', [lost.id])
  await run('ALTER TABLE api_keys ENABLE TRIGGER USER')
  await run('UPDATE access_changes SET revision = $1', [revision])
  await run('NOTIFY access_changes')
  while (keys.find(lost.text, 0) !== null) await nextTurn()
  assert.notEqual(keys.find(kept.text, 0), null)

  // The next change has a number that no lost one had.
  await run('DELETE FROM api_keys WHERE id = $1', [kept.id])
  assert.ok((await readRevision()) > newest)
  while (keys.find(kept.text, 0) !== null) await nextTurn()
})
