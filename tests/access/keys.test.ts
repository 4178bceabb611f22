import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { keyExpiry } from '../../lib/access/key-expiry.ts'
import { insertKey, newKey } from '../../lib/access/keys.ts'
import { hasScope, parseScope } from '../../lib/access/scopes.ts'
import { insertAudit } from '../../lib/accounts/audit.ts'
import { findUser, findUserByEmail, insertUser, newUser } from '../../lib/accounts/users.ts'
import { SCOPES } from '../../lib/contract/operation.ts'
import type { Db } from '../../lib/db/open.ts'
import { apiKeys, auditLog } from '../../lib/db/tables.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { storeOfTest } from '../support/database/store.ts'
import { ON_POSTGRES } from '../support/database/test-database.ts'
import { NOON } from '../support/helpers.ts'

const openStore = storeOfTest()

function keyOf(userId: string) {
  return newKey(mintKey('publishable'), {
    userId,
    name: "O'Brien \u0000 ✓",
    type: 'publishable',
    scopes: ['geo:read'],
    allowedOrigins: ['https://a.example'],
    now: NOON,
    expiresAt: null,
  })
}

async function withUser(db: Db, email: string) {
  const user = newUser({ email, plan: 'free', now: NOON })
  await insertUser(db, user).run()
  return user
}

const audit = (actorId: string) =>
  ({ app: 'cli', actorId, action: 'create_key', createdAt: NOON }) as const

describe('insertKey', () => {
  it('stores every field unchanged', async () => {
    const { db } = await openStore()
    const key = keyOf((await withUser(db, 'a@example.com')).id)
    assert.equal((await insertKey(db, key, 1).run()).changes, 1)
    // PostgreSQL cannot store U+0000.
    const name = ON_POSTGRES ? key.name.replace('\0', '\ufffd') : key.name
    assert.deepEqual(await db.select().from(apiKeys).all(), [{ ...key, name }])
  })

  it('adds exactly the allowed number when 50 run at once over two connections', async () => {
    const { db: one, other } = await openStore()
    const user = await withUser(one, 'a@example.com')
    await withUser(one, 'b@example.com')
    const adding = Array.from({ length: 50 }, async (_, n) => {
      const db = n % 2 === 0 ? one : other
      const event = insertAudit(db, audit(user.id))
      return runInTransaction(db, [insertKey(db, keyOf(user.id), 2), event])
    })
    assert.equal((await Promise.all(adding)).filter(Boolean).length, 2)
    assert.equal((await one.select().from(apiKeys).all()).length, 2)
    assert.equal((await other.select().from(auditLog).all()).length, 2)
  })

  it('counts only the keys of the user', async () => {
    const { db } = await openStore()
    const [a, b] = [await withUser(db, 'a@example.com'), await withUser(db, 'b@example.com')]
    assert.equal((await insertKey(db, keyOf(a.id), 1).run()).changes, 1)
    assert.equal((await insertKey(db, keyOf(b.id), 1).run()).changes, 1)
    assert.equal((await insertKey(db, keyOf(b.id), 1).run()).changes, 0)
  })

  it('adds no key for a missing user, or with a limit of zero', async () => {
    const { db } = await openStore()
    const user = await withUser(db, 'a@example.com')
    assert.equal((await insertKey(db, keyOf('nobody'), 5).run()).changes, 0)
    assert.equal((await insertKey(db, keyOf(user.id), 0).run()).changes, 0)
  })
})

describe('runInTransaction', () => {
  it('undoes everything if one statement fails', async () => {
    const { db } = await openStore()
    const user = await withUser(db, 'a@example.com')
    const key = keyOf(user.id)
    const twice = [insertKey(db, key, 5), insertKey(db, key, 5)] as const
    await assert.rejects(runInTransaction(db, twice), /unique/i)
    assert.deepEqual(await db.select().from(apiKeys).all(), [])
  })
})

describe('keyExpiry', () => {
  it('is a year for free plans and never for paid ones', () => {
    assert.equal(keyExpiry({ price: 0 }, NOON), Date.UTC(2027, 0, 15, 12))
    assert.equal(keyExpiry({ price: 9 }, NOON), null)
  })
})

describe('a scope', () => {
  it('is found by its name, and geo:read also as location:read', () => {
    for (const scope of SCOPES) assert.equal(parseScope(scope), scope)
    assert.equal(parseScope('location:read'), 'geo:read')
    for (const name of ['', 'geo', 'GEO:READ', 'geo:read ', 'toString']) {
      assert.equal(parseScope(name), undefined)
    }
  })

  it('is granted if it is listed, or if there is no list', () => {
    assert.equal(hasScope(null, 'billing:write'), true)
    assert.equal(hasScope([], 'geo:read'), false)
    assert.equal(hasScope(['geo:read'], 'geo:read'), true)
    assert.equal(hasScope(['account:write'], 'account:read'), false)
  })
})

describe('a user', () => {
  it('is found by the e-mail address in any spelling', async () => {
    const { db } = await openStore()
    const user = await withUser(db, ' Ada@Example.com ')
    assert.deepEqual(await findUserByEmail(db, 'ADA@example.COM'), user)
    assert.equal(user.email, 'ada@example.com')
    assert.equal(await findUserByEmail(db, 'eve@example.com'), null)
  })

  it('is found by the id', async () => {
    const { db } = await openStore()
    const user = await withUser(db, 'ada@example.com')
    assert.deepEqual(await findUser(db, user.id), user)
    assert.equal(await findUser(db, 'nobody'), null)
  })

  it('is added once', async () => {
    const { db } = await openStore()
    await withUser(db, 'ada@example.com')
    const again = newUser({ email: 'ADA@example.com', plan: 'pro', now: NOON })
    assert.equal((await insertUser(db, again).run()).changes, 0)
  })
})
