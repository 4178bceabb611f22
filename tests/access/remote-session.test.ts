import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindSession } from '../../lib/access/find-session.ts'
import { rememberSession } from '../../lib/access/sessions.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'

const openStore = storeOfTest()

describe('a session of the remote auth service', () => {
  it('is never valid for the embedded sign-in, however its token is written', async () => {
    const { db } = await openStore()
    const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
    await insertUser(db, user).run()
    await rememberSession(db, { userId: user.id, token: 'abc', expiresAt: NOON + 1_000 }, NOON)
    const find = createFindSession(db, { secret: 'secret', sendsMail: false })
    for (const text of ['abc', 'remote:abc', 'remote%3Aabc', 'remote%0Aabc']) {
      assert.equal(await find(text, NOON), null, text)
    }
  })
})
