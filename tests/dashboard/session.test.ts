import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readRows, write } from '../support/database/sql.ts'
import { type AppOptions, makeApp, recordingLog } from '../support/helpers.ts'
import { freshClient } from '../support/scene/send.ts'

const PAGES = ['/app', '/app/keys', '/app/billing', '/app/usage', '/app/look-up?ip=81.2.69.160']

/** Opens the service, and counts how often a session is verified. */
async function openCounting(options: AppOptions = {}) {
  const sessions = { verified: 0 }
  const app = await makeApp({
    ...options,
    replace: ({ findSession }) => ({
      findSession: async (...given) => {
        const user = await findSession(...given)
        sessions.verified += 1
        return user
      },
    }),
  })
  return Object.assign(app, { sessions })
}

describe('a page', () => {
  it('verifies its session once, and is one line in the log', async () => {
    const log = recordingLog()
    await using app = await openCounting({ log })
    const ada = app.user('ada')
    await ada.enter()
    for (const path of PAGES) {
      app.sessions.verified = 0
      log.requests.length = 0
      assert.equal((await ada.visit(path)).status, 200, path)
      assert.equal(app.sessions.verified, 1, path)
      const lines = log.requests.map(({ route, status }) => [route, status])
      assert.deepEqual(lines, [[path.split('?', 1)[0], 200]])
    }
  })

  it('changes nothing if the session ends while the browser is still sending the form', async () => {
    await using app = await openCounting()
    const ada = app.user('ada')
    const cookie = await ada.enter()
    const rest = Promise.withResolvers<Uint8Array>()
    const body = new ReadableStream<Uint8Array>({
      start: async (stream) => {
        stream.enqueue(new TextEncoder().encode('name='))
        stream.enqueue(await rest.promise)
        stream.close()
      },
    })
    const headers = {
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const init: RequestInit = { method: 'POST', headers, body, duplex: 'half' }
    const request = new Request('http://127.0.0.1:8787/app/keys', init)
    app.sessions.verified = 0
    const answer = app.app.fetch(request, { remoteAddress: freshClient() })
    while (app.sessions.verified === 0) await nextTurn()
    await write(app, 'DELETE FROM sessions')
    rest.resolve(new TextEncoder().encode('late'))
    const { status, headers: answered } = await answer
    assert.deepEqual([status, answered.get('location')], [303, '/app/sign-in'])
    assert.deepEqual(await readRows(app, 'SELECT count(*) FROM api_keys'), [[0]])
  })

  it('shows the times of its operations in the metrics', async () => {
    await using app = await makeApp()
    const ada = app.user('ada')
    await ada.visit('/app/keys')
    assert.match(app.services.requestTimes.text(), /"\/v1\/account\/me\/keys"/)
  })
})
