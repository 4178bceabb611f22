import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AUTH_BASE_PATH } from '../../lib/contract/pages.ts'
import { type AuthSettings, startAuth } from '../../lib/services/auth-host.ts'
import type { Services } from '../../lib/services/services.ts'
import { readRows } from '../support/database/sql.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()

// run: only on SQLite, because its subject is the thread, not the database

const fail = (error: unknown) => assert.fail(String(error))
const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'

function start({ db, log }: Services, changes: Partial<AuthSettings> = {}) {
  const answers = {
    hasSuspectKeys: async () => false,
    reset: async () => true,
    challenge: async () => null,
    pass: async () => null,
  }
  return startAuth({ db, log, onCrash: fail }, answers, {
    secret: 'a secret for tests of thirty-two characters',
    baseUrl: 'http://127.0.0.1:8787',
    plan: 'free',
    allowSignUp: true,
    smtpUrl: undefined,
    mailFrom: 'geo@example.com',
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
    const easy = await auth.handle(
      signUp({ name: 'Bo', email: 'b@x.example', password: 'password1' }),
    )
    assert.equal(easy.status, 400)
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
