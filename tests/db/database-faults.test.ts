import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import * as v from 'valibot'
import { codeOf, makeApp, recordingLog } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { PASSWORD, sendAuth } from '../support/sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const SITES = '/v1/account/me/sites'
const Log = v.object({ err: v.instance(Error), requestId: v.string() })

describe('a database that cannot be written', () => {
  const log = recordingLog()
  let key: string
  const app = sharedScene({ log }, async () => {
    key = await app.makeKey()
  })
  beforeEach(() => app.setReadOnly(true))

  const addSite = () => app.send('POST', SITES, { key, body: { name: 'https://shop.example' } })

  it('makes changes fail with 503, which is logged with the request id', async () => {
    const answer = await addSite()
    assert.equal(codeOf(answer), 'SERVICE_UNAVAILABLE')
    assert.doesNotMatch(answer.text, /SQLITE|readonly/)
    const event = log.events.find(({ message }) => message === 'cannot use the database')
    assert.equal(event?.level, 'error')
    assert.equal(v.parse(Log, event?.fields).requestId, answer.headers.get('x-request-id'))
  })

  it('makes sign-ups fail with 503', async () => {
    const body = { email: 'kim@example.com', password: PASSWORD, name: 'Kim' }
    const answer = await sendAuth(app, '/sign-up/email', body)
    assert.equal(codeOf(answer), 'SERVICE_UNAVAILABLE')
  })

  it('shows in health, and stops neither look-ups nor reads', async () => {
    assert.equal((await app.send('GET', '/health')).status, 503)
    assert.equal((await app.send('GET', LOCATE, { key })).status, 200)
    assert.equal((await app.send('GET', SITES, { key })).status, 200)
  })

  it('accepts writes again once it can be written', async () => {
    app.setReadOnly(false)
    assert.equal((await addSite()).status, 201)
  })
})

describe('damage found while the service runs', () => {
  it('degrades health until the restart and logs the advice once', async () => {
    const log = recordingLog()
    let now = 0
    await using app = await makeApp({ log, now: () => now })
    const key = await app.makeKey()
    assert.equal((await app.send('GET', '/health')).status, 200)
    const malformed = new Sqlite.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT')
    for (let n = 0; n < 2; n++) app.services.log.error({ err: malformed }, 'cannot write counters')
    now += 1_000
    const { status, body } = await app.send('GET', '/health')
    assert.equal(status, 503)
    assert.deepEqual(v.parse(v.object({ checks: v.unknown() }), body).checks, {
      geolocation: true,
      database: false,
    })
    const advice = log.events.filter(({ message }) => message.includes('npm run restore'))
    assert.equal(advice.length, 1)
    assert.equal((await app.send('GET', LOCATE, { key })).status, 200)
  })
})
