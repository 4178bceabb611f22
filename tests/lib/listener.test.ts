import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createListener } from '../../lib/listener.ts'

const errors: unknown[] = []
const headers = { 'content-type': 'application/json' }
const listener = createListener(
  ({ url }) => {
    if (url === '/now') return { status: 200, headers, json: '"now"' }
    if (url === '/later') return Promise.resolve({ status: 404, headers, json: '"später ✓"' })
    if (url === '/nothing') return { status: 204, headers: {}, json: null }
    if (url === '/throws') throw new Error('a bug')
    if (url === '/rejects') return Promise.reject(new Error('a later bug'))
    return null
  },
  (_, response) => response.end('otherwise'),
  (error) => errors.push(error),
)
const server = createServer(listener)

let origin: string
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: it listens on a port
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

describe('createListener', () => {
  it('writes what is answered at once or later, with its length in bytes', async () => {
    for (const [path, status, text, length] of [
      ['/now', 200, '"now"', '5'],
      ['/later', 404, '"später ✓"', '13'],
      ['/nothing', 204, '', null],
    ] as const) {
      const response = await fetch(`${origin}${path}`)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-length'), length)
      assert.equal(response.headers.get('transfer-encoding'), null)
      assert.equal(await response.text(), text)
    }
  })

  it('leaves what is not answered to the other listener', async () => {
    assert.equal(await (await fetch(`${origin}/else`)).text(), 'otherwise')
  })

  it('tells of a bug, closes the connection, and goes on', async () => {
    await assert.rejects(fetch(`${origin}/throws`))
    await assert.rejects(fetch(`${origin}/rejects`))
    assert.deepEqual(errors.map(String), ['Error: a bug', 'Error: a later bug'])
    assert.equal((await fetch(`${origin}/now`)).status, 200)
  })
})
