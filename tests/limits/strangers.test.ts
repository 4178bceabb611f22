import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeApp, recordingLog } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
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
      assert.equal(limitOf(refused), '"per-address";q=60;w=60 "per-address";r=0;t=1')
      app.pass(1_000)
      assert.equal((await ask(FROM)).status, status)
    })
  }

  it('leaves keys and preflights from that address alone', async () => {
    await statuses(70, () => app.send('GET', LOCATE, { from: FROM }))
    const key = await ada.key()
    assert.equal((await app.send('GET', LOCATE, { from: FROM, key })).status, 200)
    const preflight = () => app.send('OPTIONS', LOCATE, { from: FROM })
    assert.deepEqual(await statuses(601, preflight), [...many(204, 600), 429])
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
