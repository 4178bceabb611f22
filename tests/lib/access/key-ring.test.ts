import assert from 'node:assert/strict'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type KeyType, mintKey } from '../../../lib/access/api-key.ts'
import { type KeyRing, openKeyRing } from '../../../lib/access/key-ring.ts'
import { insertKey, newKey } from '../../../lib/access/keys.ts'
import { insertUser, newUser, updatePlan } from '../../../lib/accounts/users.ts'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { readPlans } from '../../../lib/plans.ts'
import { NOON } from '../../helpers.ts'
import { tempFolder } from '../../temp-folder.ts'

const plans = readPlans(undefined)
const folder = tempFolder()
let count = 0
let db: Db
/** Of another process, as far as SQLite can tell. */
let other: Db
let ring: KeyRing
let userId: string

beforeEach(() => {
  const file = join(folder, `${count++}.db`)
  db = openDb(file)
  other = openDb(file)
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
  insertUser(other, user).run()
  userId = user.id
  ring = openKeyRing(db, plans, assert.ifError)
})

interface Extra {
  readonly type?: KeyType
  readonly allowedOrigins?: readonly string[]
  readonly expiresAt?: number
}

function addKey({ type = 'secret', allowedOrigins, expiresAt }: Extra = {}) {
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
  insertKey(other, row, 100).run()
  return minted
}

describe('a key ring', () => {
  it('knows a key that another connection adds at once', () => {
    const { text, id, prefix } = addKey()
    const { origins, plan, ...key } = ring.find(text, NOON) ?? {}
    assert.deepEqual(key, {
      id,
      userId,
      prefix,
      type: 'secret',
      scopes: ['geo:read'],
      expiresAt: null,
    })
    assert.deepEqual([origins, plan], [[], plans.free])
  })

  it('forgets a key that another connection removes by the next turn', async () => {
    const { text, id } = addKey()
    const kept = addKey()
    assert.ok(ring.find(text, NOON))
    other.$client.prepare('DELETE FROM api_keys WHERE id = ?').run(id)
    await nextTurn()
    assert.equal(ring.find(text, NOON), null)
    assert.ok(ring.find(kept.text, NOON))
  })

  it('takes over a changed plan, scope, origin and expiry by the next turn', async () => {
    const { text, id } = addKey({ type: 'publishable', allowedOrigins: ['https://a.example'] })
    assert.equal(ring.find(text, NOON)?.plan.id, 'free')
    updatePlan(other, userId, 'pro').run()
    await nextTurn()
    assert.equal(ring.find(text, NOON)?.plan.id, 'pro')
    const change =
      'UPDATE api_keys SET scopes = ?, allowed_origins = ?, expires_at = ? WHERE id = ?'
    other.$client.prepare(change).run('[]', '["https://b.example"]', NOON + 5, id)
    await nextTurn()
    const key = ring.find(text, NOON)
    assert.deepEqual(key?.scopes, [])
    assert.deepEqual(
      key?.origins.map((origin) => origin.text),
      ['https://b.example'],
    )
    assert.equal(ring.find(text, NOON + 5), null)
  })

  it('gives the free plan to users of a plan that is gone', () => {
    const { text } = addKey()
    updatePlan(other, userId, 'gone').run()
    assert.equal(ring.find(text, NOON)?.plan, plans.free)
  })

  it('skips origins that are no patterns', () => {
    const { text } = addKey({ type: 'publishable', allowedOrigins: ['*', 'https://a.example'] })
    assert.equal(ring.find(text, NOON)?.origins.length, 1)
  })

  it('finds an expired key no more, remembered or not', () => {
    const { text } = addKey({ expiresAt: NOON })
    assert.ok(ring.find(text, NOON - 1))
    assert.equal(ring.find(text, NOON), null)
    assert.equal(openKeyRing(db, plans, assert.ifError).find(text, NOON), null)
  })

  it('reads no row for unknown keys, however many come', () => {
    const reads: string[] = []
    const prepare = db.$client.prepare.bind(db.$client)
    db.$client.prepare = ((sql: string) => {
      reads.push(sql)
      return prepare(sql)
    }) as typeof db.$client.prepare
    for (let n = 0; n < 2_000; n++) {
      assert.equal(ring.find(mintKey('secret').text, NOON), null)
      assert.equal(ring.find(`nonsense ${n}`, NOON), null)
    }
    assert.deepEqual(reads, [])
  })

  it('loads nothing anew when another connection writes something else', async () => {
    const { text } = addKey()
    assert.ok(ring.find(text, NOON))
    await nextTurn()
    const reads: string[] = []
    const prepare = db.$client.prepare.bind(db.$client)
    db.$client.prepare = ((sql: string) => {
      reads.push(sql)
      return prepare(sql)
    }) as typeof db.$client.prepare
    other.$client.exec('INSERT INTO health VALUES (1, 1)')
    assert.ok(ring.find(text, NOON))
    assert.equal(reads.length, 1)
    assert.match(reads[0] ?? '', /access_changes/)
  })
})
