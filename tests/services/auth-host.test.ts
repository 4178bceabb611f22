import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AUTH_BASE_PATH } from '../../lib/contract/pages.ts'
import { openAuth } from '../../lib/services/auth.ts'
import { type AuthSettings, startAuth } from '../../lib/services/auth-host.ts'
import { openContact } from '../../lib/services/contact.ts'
import type { Services } from '../../lib/services/services.ts'
import { readRows } from '../support/database/sql.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()

// run: only on SQLite, because its subjects are the thread and loading, not the database

const fail = (error: unknown) => assert.fail(String(error))
const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'

function start({ db, log }: Services, changes: Partial<AuthSettings> = {}) {
  const answers = {
    hasSuspectKeys: async () => false,
    reset: async () => true,
    challenge: async () => null,
    pass: async () => null,
    postLink: async () => {},
    postNotice: async () => {},
  }
  return startAuth({ db, log, onCrash: fail }, answers, {
    secret: 'a secret for tests of thirty-two characters',
    baseUrl: 'http://127.0.0.1:8787',
    newPlans: { first: 'unlimited', others: 'free' },
    allowSignUp: true,
    sendsMail: false,
    ...changes,
  })
}

function signUp(body: object) {
  return {
    method: 'POST',
    path: `${AUTH_BASE_PATH}/sign-up/email`,
    headers: new Headers({ 'content-type': 'application/json' }),
    token: null,
    body: JSON.stringify(body),
    client: '192.0.2.1',
    app: 'api',
    given: body,
  } as const
}

describe('sign-in in a thread', () => {
  it('signs up and writes the user to the database of this thread', async () => {
    await using auth = await start(app.services)
    const response = await auth.handle(signUp({ name: 'Ada', email: EMAIL, password: PASSWORD }))
    assert.equal(response.status, 200)
    assert.match(await response.text(), /"token":"\w+"/)
    const emails = await readRows(app, 'SELECT email, plan FROM users')
    assert.deepEqual(emails, [[EMAIL, 'free']])
    const easy = { name: 'Bo', email: 'b@x.example', password: 'password1' }
    assert.equal((await auth.handle(signUp(easy))).status, 400)
  })

  it('knows a fault of the database as one', async () => {
    const { db } = app.services
    const execute: typeof db.execute = async () => {
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
    }
    await using auth = await start({ ...app.services, db: { ...db, execute } })
    const outcome = await auth
      .handle(signUp({ name: 'Ada', email: EMAIL, password: PASSWORD }))
      .then(({ status }) => status)
      .catch((thrown: unknown) => Reflect.get(Object(thrown), 'code'))
    assert.ok(outcome === 503 || outcome === 'SQLITE_IOERR', String(outcome))
  })

  it('rejects if it cannot be loaded, and ends its thread', async () => {
    await assert.rejects(start(app.services, { baseUrl: 'nonsense' }), /URL/)
  })
})

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
    const nobody = { token: null, body: null, client: null, given: {}, app: 'api' } as const
    const path = '/api/auth/get-session'
    const call = { method: 'GET', path, headers: new Headers(), ...nobody }
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
