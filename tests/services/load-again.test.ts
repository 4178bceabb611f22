import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openAuth } from '../../lib/services/auth.ts'
import { openContact } from '../../lib/services/contact.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()

// run: only on SQLite, because its subject is loading, not the database

/** Fails at the first call, and then returns `value`. */
function failsOnce<Value>(value: Value): () => Value {
  let calls = 0
  return () => {
    calls += 1
    if (calls === 1) throw new Error('not now')
    return value
  }
}

describe('services that load on first use', () => {
  it('load sign-in again after a failure', async () => {
    await using opening = new AsyncDisposableStack()
    const baseUrl = failsOnce(app.services.baseUrl())
    const { handleAuth } = openAuth({ ...app.services, baseUrl }, app.services.keys, opening)
    const call = {
      method: 'GET',
      path: '/api/auth/get-session',
      headers: new Headers(),
      token: null,
      body: null,
      client: null,
      given: {},
      app: 'api',
    } as const
    assert.ok(handleAuth !== null)
    await assert.rejects(handleAuth(call), /not now/)
    assert.equal((await handleAuth(call)).status, 200)
  })

  it('load the proof of work again after a failure', async () => {
    await using opening = new AsyncDisposableStack()
    const readSecret = failsOnce(app.services.secrets.auth)
    const secrets = {
      get auth() {
        return readSecret()
      },
    }
    const { issueChallenge } = openContact({ ...app.services, secrets }, opening)
    assert.ok(issueChallenge !== null)
    await assert.rejects(issueChallenge(app.services.now()), /not now/)
    assert.ok(await issueChallenge(app.services.now()))
  })
})
