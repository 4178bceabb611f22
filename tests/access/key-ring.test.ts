import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { type KeyRing, openKeyRing } from '../../lib/access/key-ring/key-ring.ts'
import { deleteKey, insertKey, newKey, setEnd } from '../../lib/access/keys.ts'
import { insertUser, newUser, updatePlan } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import type { KeyType } from '../../lib/contract/account/account-schemas.ts'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { eq, sql } from '../../lib/db/drizzle.ts'
import { openDb, type SqliteDb } from '../../lib/db/open.ts'
import { apiKeys } from '../../lib/db/tables.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const plans = readPlans(undefined)
const folder = tempFolder()
let count = 0
let db: SqliteDb
/** A second connection, which SQLite treats like one of another process. */
let other: SqliteDb
let ring: KeyRing
let errors: unknown[]
let userId: string
/** Moves on where a test lets time pass: the ring asks the database once a millisecond. */
let now: number

beforeEach(async () => {
  const file = join(folder, `${count++}.db`)
  db = openDb(file)
  other = openDb(file)
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
  await insertUser(other, user).run()
  userId = user.id
  errors = []
  now = NOON
  ring = openKeyRing(db, plans, (error) => errors.push(error))
})
afterEach(() => assert.deepEqual(errors, []))

interface Extra {
  readonly type?: KeyType
  readonly allowedOrigins?: readonly string[]
  readonly expiresAt?: number
}

function makeKey({ type = 'secret', allowedOrigins, expiresAt }: Extra = {}) {
  const minted = mintKey(type)
  const row = newKey(minted, {
    userId,
    name: 'test',
    type,
    scopes: ['geo:read'],
    allowedOrigins: allowedOrigins ?? null,
    now: NOON,
    expiresAt: expiresAt ?? null,
  })
  return { ...minted, row }
}

/** Adds a key over the other connection. */
async function addKey(extra?: Extra) {
  const key = makeKey(extra)
  await insertKey(other, key.row, 100).run()
  return key
}

describe('a key ring', () => {
  it('finds at once a key that another connection adds', async () => {
    const { text, id, prefix } = await addKey()
    const { origins, plan, ...key } = ring.find(text, now) ?? {}
    const capShares = toCapShares(null)
    const granted = { type: 'secret', scopes: ['geo:read'], expiresAt: null, paid: null, capShares }
    assert.deepEqual(key, { id, userId, prefix, ...granted })
    assert.deepEqual([origins, plan], [[], plans.free])
  })

  it('drops a key within a millisecond if another connection removes it', async () => {
    const { text, id } = await addKey()
    const kept = await addKey()
    assert.ok(ring.find(text, now))
    other.$client.prepare('DELETE FROM api_keys WHERE id = ?').run(id)
    now += 1
    assert.equal(ring.find(text, now), null)
    assert.ok(ring.find(kept.text, now))
  })

  it('sees a changed plan, scope, origin and expiry within a millisecond', async () => {
    const allowedOrigins = ['https://a.example']
    const { text, id } = await addKey({ type: 'publishable', allowedOrigins })
    assert.equal(ring.find(text, now)?.plan.id, 'free')
    await updatePlan(other, userId, 'pro').run()
    now += 1
    assert.equal(ring.find(text, now)?.plan.id, 'pro')
    const change = 'scopes = ?, allowed_origins = ?, expires_at = ?'
    const update = other.$client.prepare(`UPDATE api_keys SET ${change} WHERE id = ?`)
    update.run('[]', '["https://b.example"]', NOON + 5, id)
    now += 1
    const key = ring.find(text, now)
    assert.deepEqual(key?.scopes, [])
    const origins = key?.origins.map((origin) => origin.text)
    assert.deepEqual(origins, ['https://b.example'])
    assert.equal(ring.find(text, NOON + 5), null)
  })

  it('gives the free plan to users of a plan that no longer exists', async () => {
    const { text } = await addKey()
    await updatePlan(other, userId, 'gone').run()
    assert.equal(ring.find(text, now)?.plan, plans.free)
  })

  it('skips origins that are not patterns', async () => {
    const allowedOrigins = ['*', 'https://a.example']
    const { text } = await addKey({ type: 'publishable', allowedOrigins })
    assert.equal(ring.find(text, now)?.origins.length, 1)
  })

  it('does not find an expired key, cached or not', async () => {
    const { text } = await addKey({ expiresAt: NOON })
    assert.ok(ring.find(text, NOON - 1))
    assert.equal(ring.find(text, now), null)
    assert.equal(openKeyRing(db, plans, assert.ifError).find(text, NOON), null)
  })

  it('forgets all keys of a user that another connection deletes', async () => {
    const keys = [await addKey(), await addKey()]
    for (const { text } of keys) assert.ok(ring.find(text, now))
    other.$client.prepare('DELETE FROM users WHERE id = ?').run(userId)
    now += 1
    for (const { text } of keys) assert.equal(ring.find(text, now), null)
  })

  it('loads only the keys of users whose access has changed', async () => {
    const user = newUser({ email: 'eve@example.com', plan: 'free', now: NOON })
    await insertUser(other, user).run()
    const key = await addKey()
    const record = ring.find(key.text, now)
    await updatePlan(other, user.id, 'pro').run()
    other.$client.exec('INSERT INTO health VALUES (1, 1)')
    now += 1
    assert.equal(ring.find(key.text, now), record, 'the same object, so it was not loaded again')
    await updatePlan(other, userId, 'pro').run()
    now += 1
    assert.notEqual(ring.find(key.text, now), record)
  })

  it('sees what another connection writes while the keys are being loaded', async () => {
    await addKey()
    const added: string[] = []
    const ofUser = (id: string) => {
      if (added.length === 0) {
        const { text, row } = makeKey()
        void insertKey(other, row, 100).run()
        added.push(text)
      }
      return plans.ofUser(id)
    }
    const late = openKeyRing(db, { ...plans, ofUser }, assert.ifError)
    assert.ok(late.find(added[0] ?? '', NOON))
  })

  it('asks the database once a millisecond, however many keys are looked up', async () => {
    const { text } = await addKey()
    assert.ok(ring.find(text, now))
    db.$client.close()
    for (let n = 0; n < 2_000; n++) {
      assert.ok(ring.find(text, now))
      assert.equal(ring.find(mintKey('secret').text, now), null)
      assert.equal(ring.find(`nonsense ${n}`, now), null)
    }
    assert.deepEqual(errors, [])
    now += 1
    assert.ok(ring.find(text, now))
    assert.match(String(errors.pop()), /not open/)
  })

  it('reads no table while nobody writes', async () => {
    const { text } = await addKey()
    assert.ok(ring.find(text, now))
    const prepare = mock.method(db.$client, 'prepare')
    for (let turn = 0; turn < 3; turn++) {
      now += 1
      assert.ok(ring.find(text, now))
    }
    assert.equal(prepare.mock.callCount(), 0)
  })

  it('keeps the known keys if reading fails, reports the error, and tries again', async () => {
    const known = await addKey()
    assert.ok(ring.find(known.text, now))
    const damaged = await addKey()
    const damage = other.$client.prepare('UPDATE api_keys SET scopes = ? WHERE id = ?')
    damage.run('{', damaged.id)
    now += 1
    assert.ok(ring.find(known.text, now))
    assert.match(String(errors.pop()), /SyntaxError/)
    damage.run('[]', damaged.id)
    now += 1
    assert.ok(ring.find(known.text, now))
    assert.ok(ring.find(damaged.text, now))
  })
})

describe('a change through the key ring', () => {
  it('takes effect at once', async () => {
    const { text, row } = makeKey()
    assert.equal(ring.find(text, now), null)
    assert.equal(await ring.change([insertKey(db, row, 1)]), true)
    assert.ok(ring.find(text, now))
    assert.equal(await ring.change([updatePlan(db, userId, 'pro')]), true)
    assert.equal(ring.find(text, now)?.plan.id, 'pro')
    assert.equal(await ring.change([setEnd(db, { ...row, expiresAt: NOON })]), true)
    assert.equal(ring.find(text, now), null)
    await ring.change([setEnd(db, row)])
    assert.ok(ring.find(text, now))
    assert.equal(await ring.change([deleteKey(db, row)]), true)
    assert.equal(ring.find(text, now), null)
  })

  it('resolves to false if it changes nothing', async () => {
    const { text, row } = makeKey()
    assert.equal(await ring.change([insertKey(db, row, 0)]), false)
    assert.equal(await ring.change([deleteKey(db, row)]), false)
    assert.equal(ring.find(text, now), null)
  })

  it('is undone if it fails, and the keys stay unchanged', async () => {
    const { text, row } = makeKey()
    await assert.rejects(ring.change([insertKey(db, row, 2), insertKey(db, row, 2)]), /UNIQUE/)
    assert.equal(ring.find(text, now), null)
  })

  it('takes effect a millisecond later if it cannot be read at once', async () => {
    const { text, row } = makeKey()
    await ring.change([insertKey(db, row, 1)])
    assert.ok(ring.find(text, now))
    const setScopes = db.$client.prepare('UPDATE api_keys SET scopes = ? WHERE id = ?')
    const bad = db.update(apiKeys).set({ scopes: sql`'{'` }).where(eq(apiKeys.id, row.id))
    assert.equal(await ring.change([bad]), true)
    assert.match(String(errors.pop()), /SyntaxError/)
    assert.deepEqual(ring.find(text, now)?.scopes, ['geo:read'])
    setScopes.run('[]', row.id)
    now += 1
    assert.deepEqual(ring.find(text, now)?.scopes, [])
  })
})
