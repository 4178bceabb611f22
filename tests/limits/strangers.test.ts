import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeApp, recordingLog } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PASSWORD, sendAuth } from '../support/sign-in.ts'
import { limitOf, many, statuses } from './answers.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const FROM = '198.51.100.20'

const app = freshScene()
const ada = app.user('ada')

describe('a request without a credential that fails', () => {
  for (const [name, method, path, status] of [
    ['a look-up', 'GET', LOCATE, 401],
    ['the timezone of the caller', 'GET', '/v1/ip/me/timezone', 403],
    ['the account', 'POST', '/v1/account/me/keys', 401],
    ['an unknown path', 'GET', '/v1/nothing', 404],
    ['an unknown method', 'PUT', LOCATE, 405],
  ] as const) {
    it(`is answered 60 times a minute for each address: ${name}`, async () => {
      const ask = (from: string) => app.send(method, path, { from })
      const expected = [...many(status, 60), ...many(429, 3)]
      assert.deepEqual(await statuses(63, () => ask(FROM)), expected)
      assert.equal((await ask('198.51.100.21')).status, status)
      const refused = await ask(FROM)
      assert.equal(limitOf(refused), '"strangers";q=60;w=60 "strangers";r=0;t=1')
      app.pass(1_000)
      assert.equal((await ask(FROM)).status, status)
    })
  }

  it('leaves keys, sign-in and public operations from that address alone', async () => {
    await statuses(70, () => app.send('GET', LOCATE, { from: FROM }))
    const key = await ada.key()
    assert.equal((await app.send('GET', LOCATE, { from: FROM, key })).status, 200)
    assert.equal((await app.send('GET', '/v1/billing/plans', { from: FROM })).status, 200)
    const body = { email: 'kim@example.com', password: PASSWORD }
    assert.equal((await sendAuth(app, '/sign-in/email', body, { from: FROM })).status, 401)
  })

  it('is logged once when it is refused for its number, not each time', async () => {
    const log = recordingLog()
    await using app = await makeApp({ log })
    await statuses(1_000, () => app.send('GET', LOCATE, { from: FROM }))
    const logged = log.requests.map(({ status }) => status)
    assert.deepEqual(logged, [...many(401, 60), 429])
    app.pass(1_000)
    await statuses(10, () => app.send('GET', LOCATE, { from: FROM }))
    assert.deepEqual(log.requests.map(({ status }) => status).slice(61), [401, 429])
  })
})

describe('a preflight', () => {
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' }

  it('is answered for however many visitors share an address, and leaves them their pages', async () => {
    const log = recordingLog()
    await using shared = await makeApp({ log })
    const preflight = () => shared.send('OPTIONS', LOCATE, { from: FROM, headers })
    assert.deepEqual(await statuses(2_000, preflight), many(204, 2_000))
    assert.equal(limitOf(await preflight()), '"preflights";q=600;w=60 "preflights";r=0;t=1')
    assert.equal((await visitPage(shared, '/', { from: FROM })).status, 200)
    const key = await shared.makeKey({ type: 'publishable', origins: [headers.origin] })
    assert.equal((await shared.send('GET', LOCATE, { from: FROM, headers, key })).status, 200)
    const logged = log.requests.filter(({ method }) => method === 'OPTIONS')
    assert.equal(logged.length, 601)
  })
})
