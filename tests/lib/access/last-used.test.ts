import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { mintKey } from '../../../lib/access/api-key.ts'
import { type KeyRecord, loadKeyRecords } from '../../../lib/access/key-records.ts'
import { deleteKey, insertKey, listKeys, newKey } from '../../../lib/access/keys.ts'
import { type LastUsed, openLastUsed } from '../../../lib/access/last-used.ts'
import { insertUser, newUser } from '../../../lib/accounts/users.ts'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { readPlans } from '../../../lib/plans.ts'
import { NOON } from '../../helpers.ts'
import { tempFolder } from '../../temp-folder.ts'

const plans = readPlans(undefined)
const folder = tempFolder()
let count = 0
let file: string
let db: Db
let userId: string
let errors: unknown[]
let lastUsed: LastUsed

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
  file = join(folder, `${count++}.db`)
  db = openDb(file)
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
  insertUser(db, user).run()
  userId = user.id
  errors = []
  lastUsed = openLastUsed(db, (error) => errors.push(error))
})
afterEach(() => {
  mock.timers.reset()
  assert.deepEqual(errors, [])
})

function addKey(): KeyRecord {
  const minted = mintKey('secret')
  const access = { type: 'secret', scopes: null, allowedOrigins: null } as const
  const row = newKey(minted, { userId, name: 'test', ...access, now: NOON, expiresAt: null })
  insertKey(db, row, 100).run()
  const record = loadKeyRecords(db, plans).byHash.get(minted.hash)
  assert.ok(record)
  return record
}

const stored = async () => (await listKeys(db, userId)).map((key) => key.lastUsedAt)

/** Makes every write of keys fail until the function that it returns is called. */
function breakWrites() {
  db.$client.exec(
    "CREATE TRIGGER broken BEFORE UPDATE ON api_keys BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  )
  return () => db.$client.exec('DROP TRIGGER broken')
}

describe('the last use of a key', () => {
  it('is known at once, and stored by the next flush, to the second', async () => {
    const [used] = [addKey(), addKey()]
    lastUsed.touch(used, NOON + 1_999)
    assert.equal(lastUsed.unwritten(used.id), NOON + 1_000)
    assert.deepEqual(await stored(), [null, null])
    lastUsed.flush()
    assert.deepEqual(await stored(), [NOON + 1_000, null])
    assert.equal(lastUsed.unwritten(used.id), undefined)
  })

  it('is flushed every second', async () => {
    const key = addKey()
    for (const n of [1, 2, 3]) {
      lastUsed.touch(key, NOON + n * 1_000)
      mock.timers.tick(1_000)
      assert.deepEqual(await stored(), [NOON + n * 1_000])
      // The next flush is planned once this one has ended.
      await Promise.resolve()
    }
  })

  it('is flushed when the process stops', async () => {
    lastUsed.touch(addKey(), NOON)
    lastUsed[Symbol.dispose]()
    assert.deepEqual(await stored(), [NOON])
  })

  it('is noted once a second', () => {
    const key = addKey()
    lastUsed.touch(key, NOON)
    lastUsed.flush()
    lastUsed.touch(key, NOON + 999)
    assert.equal(lastUsed.unwritten(key.id), undefined)
    lastUsed.touch(key, NOON + 1_000)
    assert.equal(lastUsed.unwritten(key.id), NOON + 1_000)
  })

  it('never goes back, whatever the clock does', async () => {
    const key = addKey()
    lastUsed.touch(key, NOON + 5_000)
    lastUsed.touch(key, NOON)
    // The same key, loaded anew.
    lastUsed.touch({ ...key, lastUsedAt: 0 }, NOON + 1_000)
    assert.equal(lastUsed.unwritten(key.id), NOON + 5_000)
    lastUsed.flush()
    lastUsed.touch({ ...key, lastUsedAt: 0 }, NOON + 2_000)
    lastUsed.flush()
    assert.deepEqual(await stored(), [NOON + 5_000])
  })

  it('is kept where a flush fails, and stored by the next one', async () => {
    const [a, b] = [addKey(), addKey()]
    lastUsed.touch(a, NOON)
    const repair = breakWrites()
    mock.timers.tick(1_000)
    assert.match(String(errors.pop()), /disk full/)
    assert.deepEqual(await stored(), [null, null])
    lastUsed.touch(b, NOON + 1_000)
    repair()
    await Promise.resolve()
    mock.timers.tick(1_000)
    assert.deepEqual(await stored(), [NOON, NOON + 1_000])
  })

  it('is not waited for: while another process writes, requests go on', async () => {
    const other = openDb(file)
    lastUsed.touch(addKey(), NOON)
    other.$client.exec('BEGIN IMMEDIATE')
    const pragma = mock.method(db.$client, 'pragma')
    mock.timers.tick(1_000)
    assert.deepEqual(pragma.mock.calls[1]?.arguments, ['busy_timeout = 50'])
    assert.match(String(errors.pop()), /database is locked/)
    assert.equal(db.$client.pragma('busy_timeout', { simple: true }), 5_000, 'others do wait')
    other.$client.exec('COMMIT')
    await Promise.resolve()
    mock.timers.tick(1_000)
    assert.deepEqual(await stored(), [NOON])
  })

  it('does not stop the process where it cannot be stored', () => {
    lastUsed.touch(addKey(), NOON)
    breakWrites()
    lastUsed[Symbol.dispose]()
    assert.match(String(errors.pop()), /disk full/)
  })

  it('of a key that is revoked meanwhile is dropped', async () => {
    const [gone, kept] = [addKey(), addKey()]
    lastUsed.touch(gone, NOON)
    lastUsed.touch(kept, NOON)
    const [row] = await listKeys(db, userId)
    assert.ok(row)
    deleteKey(db, row).run()
    lastUsed.flush()
    assert.deepEqual(await stored(), [NOON])
    assert.equal(lastUsed.unwritten(gone.id), undefined)
  })

  it('makes no process load keys anew', () => {
    const records = loadKeyRecords(db, plans)
    const key = addKey()
    assert.equal(records.update(), true)
    lastUsed.touch(key, NOON)
    lastUsed.flush()
    assert.equal(records.update(), false)
  })
})
