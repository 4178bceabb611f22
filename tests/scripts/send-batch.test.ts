import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openServerSource } from '../../scripts/address-lists/parts/server-source.ts'
import { type Handle, startLoopbackServer } from '../support/loopback-server.ts'

const KEY = 'the-key'

/** The answers to texts by a server that answers so. */
async function ask(handle: Handle, texts: readonly string[] = ['1.1.1.1']) {
  await using server = await startLoopbackServer(handle)
  using source = openServerSource({ url: server.origin, key: KEY }, { lang: 'de' })
  return [...(await source.answersTo(texts)), ...(await source.answersTo(texts))]
}

async function bodyOf(request: Parameters<Handle>[0]): Promise<{ readonly ips: string[] }> {
  return JSON.parse((await request.toArray()).join(''))
}

/** Answers as `POST /v1/ip/batch` does. */
const echo: Handle = async (request, response) => {
  const { ips } = await bodyOf(request)
  const meta = { precision: 'none', degraded: false }
  response.end(ips.map((value) => `${JSON.stringify({ query: { value }, meta })}\n`).join(''))
}

describe('the answers of a server', () => {
  it('are asked for once, in batches, with the key in a header', async () => {
    const sent: number[] = []
    const addresses = Array.from({ length: 1_500 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
    const answers = await ask(
      async (request, response) => {
        const { url, headers } = request
        assert.deepEqual([url, headers['x-api-key']], ['/v1/ip/batch', KEY])
        assert.equal(headers.accept, 'application/x-ndjson')
        const body = await bodyOf(request)
        assert.partialDeepStrictEqual(body, { lang: 'de' })
        sent.push(body.ips.length)
        const lines = body.ips.map((value) => JSON.stringify({ query: { value } }))
        response.end(lines.join('\n'))
      },
      [...addresses, 'nope', '010.0.0.1', ...addresses],
    )
    assert.deepEqual(sent, [1_000, 500])
    assert.equal(answers.length, 2 * 3_002)
    assert.deepEqual(JSON.parse(answers[1_499] ?? '').query, { value: '10.0.5.219' })
    assert.equal(JSON.parse(answers[1_500] ?? '').error.code, 'BAD_REQUEST')
    assert.equal(answers[1_502], answers[0])
  })

  it('have the form of those of the databases here, unless they are reduced', async () => {
    const known = '{"query":{"value":"::1"},"meta":{"precision":"none"}}'
    assert.deepEqual(await ask(echo, ['::1']), [known, known])
    const reduced: Handle = (_, response) => response.end('{"meta":{"degraded":true}}\n')
    assert.equal((await ask(reduced))[0], '{"meta":{"degraded":true}}')
  })

  for (const status of [429, 503]) {
    it(`are waited for as long as a ${status} says`, async () => {
      let requests = 0
      await ask((request, response) => {
        requests += 1
        if (requests > 3) return echo(request, response)
        const dated = new Date(Date.now() - 5_000).toUTCString()
        return response.writeHead(status, { 'retry-after': requests === 1 ? dated : '0' }).end('{}')
      })
      assert.equal(requests, 4)
    })
  }

  it('are not waited for without end', async () => {
    const busy = (wait: string) =>
      ask((_, response) => response.writeHead(429, { 'retry-after': wait }).end())
    await assert.rejects(busy('0'), /^Error: The service is too busy/)
    await assert.rejects(busy('3600'), /^Error: The server is too busy: it asks to wait 3600 s/)
  })

  it('fail with what to do, and without the key', async () => {
    const error = (message: string) => JSON.stringify({ error: { code: 'X', message } })
    const answer =
      (status: number, body: string, headers = {}): Handle =>
      (_, response) =>
        response.writeHead(status, headers).end(body)
    const elsewhere = answer(308, '', { location: 'https://geo.example/' })
    const unknown = / answers 401: Unknown key; set MERIDIAN_KEY to one of its API keys$/
    const cases: readonly (readonly [Handle, RegExp])[] = [
      [answer(401, error('Unknown key')), unknown],
      [answer(403, error('The key lacks geo:read')), / answers 403: The key lacks geo:read$/],
      [answer(404, '<h1>Not found</h1>'), / answers 404; is it the address of Meridian\?$/],
      [elsewhere, / leads to https:\/\/geo\.example\/: use that address$/],
      [answer(200, '<h1>Hi</h1>'), / does not answer as Meridian does$/],
      [answer(200, '{}\n{}\n'), / does not answer as Meridian does$/],
      [(request) => request.socket.destroy(), /^Cannot reach http:\S+: \S/],
    ]
    for (const [handle, expected] of cases) {
      await assert.rejects(ask(handle), ({ message }: Error) => {
        assert.match(message, expected)
        assert.doesNotMatch(message, new RegExp(KEY))
        return true
      })
    }
  })

  it('fail over TLS if the server does not speak it', async () => {
    await using server = await startLoopbackServer(echo)
    const url = server.origin.replace('http:', 'https:')
    using source = openServerSource({ url, key: KEY }, {})
    await assert.rejects(source.answersTo(['::1']), /^Error: Cannot reach https:\S+: \S/)
  })
})
