import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { adoptUser, type RemoteUser } from '../../lib/accounts/remote-users.ts'
import { findUser, findUserByEmail, insertUser, newUser } from '../../lib/accounts/users.ts'
import type { Db } from '../../lib/db/open.ts'
import { auditLog, users } from '../../lib/db/tables.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'

const openStore = storeOfTest()

const ADA: RemoteUser = { id: 'r1', name: 'Ada', email: 'Ada@example.com', emailVerified: false }

let db: Db
beforeEach(async () => {
  db = (await openStore()).db
})

function adopt(user: RemoteUser, now = NOON): Promise<string> {
  return adoptUser(db, user, { findPlan: async () => 'free', now })
}

/** Adds a user as the command line does. Returns the id. */
async function addLocal(email: string): Promise<string> {
  const user = newUser({ email, plan: 'pro', now: NOON })
  await insertUser(db, user).run()
  return user.id
}

describe('adoptUser', () => {
  it('adds a new user once, with the id of the service', async () => {
    const ids = await Promise.all([adopt(ADA), adopt(ADA), adopt(ADA)])
    assert.deepEqual(ids, ['r1', 'r1', 'r1'])
    const { email, name, emailVerified, plan, createdAt } = (await findUser(db, 'r1')) ?? {}
    const found = [email, name, emailVerified, plan, createdAt]
    assert.deepEqual(found, ['ada@example.com', 'Ada', false, 'free', NOON])
    const audit = await db.select().from(auditLog).orderBy(auditLog.id).all()
    const entries = audit.map(({ action, actorId }) => `${action} ${actorId}`)
    assert.deepEqual(entries, ['create_user r1'])
  })

  it('copies a changed name, address and verification', async () => {
    await adopt(ADA)
    await adopt({ ...ADA, name: null, email: 'ada@shop.example', emailVerified: true }, NOON + 5)
    const { email, name, emailVerified, updatedAt } = (await findUser(db, 'r1')) ?? {}
    const found = [email, name, emailVerified, updatedAt]
    assert.deepEqual(found, ['ada@shop.example', null, true, NOON + 5])
  })

  it('never links or renames the user of the landing page, nor adds another one', async () => {
    const demo = { ...newUser({ email: 'demo', plan: 'demo', now: NOON }), id: 'demo' }
    for (const isThere of [false, true]) {
      if (isThere) await insertUser(db, demo).run()
      for (const said of [
        { id: 'demo', email: 'demo' },
        { id: 'demo', email: 'stranger@example.com' },
        { id: 'other-9', email: 'DEMO' },
      ]) {
        const user = { ...ADA, ...said, emailVerified: true }
        await assert.rejects(adopt(user), { code: 'FORBIDDEN' }, JSON.stringify(said))
      }
    }
    assert.deepEqual(await findUser(db, 'demo'), demo)
    assert.equal((await db.select().from(users).all()).length, 1)
  })

  it('writes nothing if nothing has changed', async () => {
    await adopt(ADA)
    await adopt(ADA, NOON + 5)
    assert.equal((await findUser(db, 'r1'))?.updatedAt, NOON)
  })

  it('links a user created on the command line to the remote user with the verified address', async () => {
    const local = await addLocal('ada@example.com')
    assert.equal(await adopt({ ...ADA, emailVerified: true }), local)
    assert.equal(await adopt({ ...ADA, email: 'new@example.com' }), local)
    assert.equal((await findUser(db, local))?.plan, 'pro')
  })

  it('refuses a remote user who has not verified the address', async () => {
    const local = await addLocal('ada@example.com')
    await assert.rejects(adopt(ADA), { code: 'FORBIDDEN' })
    assert.equal((await findUser(db, local))?.remoteId, null)
  })

  it('never links a linked user to another remote user, verified or not', async () => {
    await adopt(ADA)
    const eve = { ...ADA, id: 'r2', emailVerified: true }
    await assert.rejects(adopt(eve), { code: 'FORBIDDEN' })
    assert.equal(await adopt(ADA), 'r1')
  })

  it('keeps the old address if the new one belongs to another user', async () => {
    await adopt(ADA)
    const other = await addLocal('bob@example.com')
    assert.equal(await adopt({ ...ADA, email: 'bob@example.com', emailVerified: true }), 'r1')
    assert.equal((await findUserByEmail(db, 'bob@example.com'))?.id, other)
    assert.equal((await findUser(db, 'r1'))?.email, 'ada@example.com')
  })

  it('refuses an id that belongs to one of our own users', async () => {
    const local = await addLocal('bob@example.com')
    await assert.rejects(adopt({ ...ADA, id: local }), { code: 'FORBIDDEN' })
  })
})
