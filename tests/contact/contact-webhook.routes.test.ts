import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { makeApp, NOON, recordingLog } from '../helpers.ts'
import { accept, INQUIRY, inquiries, look, outcomes, PRIVATE } from '../inquiry.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

interface Hooked {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function startHook(answer: (response: ServerResponse, count: number) => void) {
  const calls: Hooked[] = []
  const server = createServer(async (request, response) => {
    calls.push({ headers: request.headers, body: await text(request) })
    answer(response, calls.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: a TCP server that listens has such an address
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

describe('inquiries by webhook', () => {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32)))
  const envOf = ({ url }: { url: string }) => ({
    MERIDIAN_CONTACT: url,
    MERIDIAN_CONTACT_SECRET: `whsec_${key.toString('base64')}`,
  })

  it('are signed as Standard Webhooks say', async () => {
    using hook = await startHook((response) => response.writeHead(204).end())
    using app = await makeApp({ env: envOf(hook) })
    const { id } = await accept(app)
    await look(app)
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
    assert.equal(outcomes(app)[0]?.state, 'delivered')
  })

  const failures = {
    'answers 500': [
      (response: ServerResponse) => response.writeHead(500).end(INQUIRY.name),
      'the webhook answered 500',
    ],
    'redirects elsewhere': [
      (response: ServerResponse) => response.writeHead(307, { location: '/other' }).end(),
      'the webhook answered 307',
    ],
    'hangs up': [
      (response: ServerResponse) => response.destroy(),
      'the webhook did not answer: UND_ERR_SOCKET',
    ],
  } as const
  for (const [name, [fail, trouble]] of Object.entries(failures)) {
    it(`come again with the same webhook-id where the receiver ${name}`, async () => {
      let now = NOON
      using hook = await startHook((response, count) => {
        if (count === 1) fail(response)
        else response.end()
      })
      const log = recordingLog()
      using app = await makeApp({ env: envOf(hook), log, now: () => now })
      const { id } = await accept(app)
      await look(app)
      assert.deepEqual(outcomes(app), [{ state: 'waiting', attempts: 1, trouble }])
      now += MINUTE_MS
      await look(app)
      assert.deepEqual(outcomes(app), [{ state: 'delivered', attempts: 2, trouble: null }])
      assert.deepEqual(
        hook.calls.map(({ headers }) => headers['webhook-id']),
        [id, id],
      )
      assert.equal(hook.calls[0]?.body, hook.calls[1]?.body)
      for (const secret of PRIVATE) assert.ok(!JSON.stringify(log.events).includes(secret))
    })
  }

  it('are removed 30 days after they are delivered', async () => {
    let now = NOON
    using hook = await startHook((response) => response.end())
    const app = await makeApp({ env: envOf(hook), now: () => now })
    await accept(app)
    await look(app)
    now += 30 * DAY_MS
    const kept = await app.restart()
    assert.equal(inquiries(kept).length, 1)
    now += 1
    using later = await kept.restart()
    assert.equal(inquiries(later).length, 0)
  })
})
