import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mintKey } from '../../lib/access/api-key.ts'
import { type KeyRing, openKeyRing } from '../../lib/access/key-ring/key-ring.ts'
import { insertKey, newKey } from '../../lib/access/keys.ts'
import { insertUser, newUser, updatePlan } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { openDb, type SqliteDb } from '../../lib/db/open.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const COUNT = 500
const plans = readPlans(undefined)
const access = { type: 'secret', scopes: null, allowedOrigins: null, expiresAt: null } as const
let db: SqliteDb
/** A second connection, which SQLite treats like one of another process. */
let other: SqliteDb
let ring: KeyRing
let errors: unknown[]
let userId: string
let texts: string[]
let ids: string[]

beforeEach(async () => {
  const file = join(tempFolder(), 'app.db')
  db = openDb(file)
  other = openDb(file)
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
  await insertUser(other, user).run()
  userId = user.id
  const keys = Array.from({ length: COUNT }, () => mintKey('secret'))
  // In the order in which they are loaded.
  keys.sort((one, two) => (one.hash < two.hash ? -1 : 1))
  for (const key of keys) {
    const row = newKey(key, { userId, name: 'test', ...access, now: NOON })
    await insertKey(other, row, COUNT).run()
  }
  texts = keys.map(({ text }) => text)
  ids = keys.map(({ id }) => id)
  errors = []
  ring = openKeyRing(db, plans, (error) => errors.push(error))
})
afterEach(() => assert.deepEqual(errors, []))

const [first, last] = [0, COUNT - 1]
let now = NOON
const find = (n: number) => ring.find(texts[n] ?? '', now)

async function loadAll(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

describe('a key ring with more keys than are loaded in one turn', () => {
  it('finds all of them at once, and keeps what it has found', async () => {
    assert.ok(ring.size() < COUNT / 2)
    const found = [find(first), find(last)]
    assert.ok(found.every((key) => key !== null))
    assert.equal(ring.find(mintKey('secret').text, NOON), null)
    await loadAll()
    assert.equal(ring.size(), COUNT)
    assert.ok(found[0] === find(first) && found[1] === find(last))
    db.$client.close()
    assert.ok(texts.every((_, n) => find(n)))
    assert.equal(ring.find(mintKey('secret').text, NOON), null)
  })

  it('sees what changes before all are loaded', async () => {
    assert.ok(find(last))
    other.$client.prepare('DELETE FROM api_keys WHERE id = ?').run(ids[last - 1])
    await updatePlan(other, userId, 'pro').run()
    now += 1
    const seen = () => [find(first)?.plan.id, find(last - 1), find(last)?.plan.id]
    assert.deepEqual(seen(), ['pro', null, 'pro'])
    await loadAll()
    assert.deepEqual(seen(), ['pro', null, 'pro'])
    assert.equal(ring.size(), COUNT - 1)
  })

  it('tries again until it can read them', async () => {
    const setScopes = other.$client.prepare('UPDATE api_keys SET scopes = ? WHERE id = ?')
    setScopes.run('{', ids[last])
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      assert.equal(find(last), null)
      await loadAll()
      assert.ok(find(first))
      assert.match(errors.splice(0).join(), /SyntaxError/)
      setScopes.run('[]', ids[last])
      mock.timers.tick(1_000)
      await loadAll()
    } finally {
      mock.timers.reset()
    }
    assert.deepEqual(find(last)?.scopes, [])
    assert.equal(ring.size(), COUNT)
  })
})
