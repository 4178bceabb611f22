import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { makeApp, NOON, recordingLog } from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { accept, deliverDue, INQUIRY, inquiries, outcomes, PRIVATE } from './inquiry.ts'

interface Hooked {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function startHook(answer: (response: ServerResponse, count: number) => void) {
  const calls: Hooked[] = []
  const loopback = await startLoopbackServer(async (request, response) => {
    calls.push({ headers: request.headers, body: await text(request) })
    answer(response, calls.length)
  })
  return {
    url: `${loopback.origin}/hook`,
    calls,
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  }
}

describe('inquiries by webhook', () => {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32)))
  const envOf = ({ url }: { url: string }) => ({
    MERIDIAN_CONTACT: url,
    MERIDIAN_CONTACT_SECRET: `whsec_${key.toString('base64')}`,
  })

  it('are signed as Standard Webhooks require', async () => {
    await using hook = await startHook((response) => response.writeHead(204).end())
    await using app = await makeApp({ env: envOf(hook) })
    const { id } = await accept(app)
    await deliverDue(app)
    const [{ headers, body } = assert.fail('nothing came'), ...more] = hook.calls
    assert.equal(more.length, 0)
    assert.deepEqual(JSON.parse(body), {
      type: 'inquiry.created',
      timestamp: '2026-01-15T12:00:00.000Z',
      data: { id, ...INQUIRY },
    })
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['webhook-id'], id)
    assert.equal(headers['webhook-timestamp'], String(NOON / 1000))
    const signed = `${id}.${NOON / 1000}.${body}`
    const signature = createHmac('sha256', key).update(signed).digest('base64')
    assert.equal(headers['webhook-signature'], `v1,${signature}`)
    assert.equal((await outcomes(app))[0]?.state, 'delivered')
  })

  const failures = {
    'answers 500': [
      (response: ServerResponse) => response.writeHead(500).end(INQUIRY.name),
      'the webhook answered 500',
    ],
    'redirects to another URL': [
      (response: ServerResponse) => response.writeHead(307, { location: '/other' }).end(),
      'the webhook answered 307',
    ],
    'closes the connection': [
      (response: ServerResponse) => response.destroy(),
      'the webhook did not answer: other side closed',
    ],
  } as const
  for (const [name, [fail, lastError]] of Object.entries(failures)) {
    it(`are sent again with the same webhook-id if the receiver ${name}`, async () => {
      await using hook = await startHook((response, count) => {
        if (count === 1) fail(response)
        else response.end()
      })
      const log = recordingLog()
      await using app = await makeApp({ env: envOf(hook), log })
      const { id } = await accept(app)
      await deliverDue(app)
      assert.deepEqual(await outcomes(app), [{ state: 'waiting', attempts: 1, lastError }])
      app.pass(MINUTE_MS)
      await deliverDue(app)
      assert.deepEqual(await outcomes(app), [{ state: 'delivered', attempts: 2, lastError: null }])
      const ids = hook.calls.map(({ headers }) => headers['webhook-id'])
      assert.deepEqual(ids, [id, id])
      assert.equal(hook.calls[0]?.body, hook.calls[1]?.body)
      for (const secret of PRIVATE) assert.ok(!JSON.stringify(log.events).includes(secret))
    })
  }

  it('are removed 30 days after they are delivered', async () => {
    await using hook = await startHook((response) => response.end())
    const app = await makeApp({ env: envOf(hook) })
    await accept(app)
    await deliverDue(app)
    assert.equal((await outcomes(app))[0]?.state, 'delivered')
    app.pass(30 * DAY_MS)
    const kept = await app.restart()
    assert.equal((await inquiries(kept)).length, 1)
    kept.pass(1)
    await using later = await kept.restart()
    while ((await inquiries(later)).length > 0) await nextTurn()
  })
})
