import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import express from 'express'
import { locateVisitors } from '../src/express.ts'
import type { Meridian, VisitorOptions } from '../src/index.ts'
import { newClient, newWatchedClient } from './parts/service.ts'
import { startServer, startStub } from './parts/stub-server.ts'

/** What a page of Express sees of a visitor behind a proxy. */
async function visit(client: Meridian, address: string, options: VisitorOptions = {}) {
  const app = express()
  app.set('trust proxy', 'loopback')
  app.use(locateVisitors(client, options))
  app.get('/', (request, response) => {
    const { location, geolocation } = request
    response.json({ location, geolocation })
  })
  await using server = await startServer(app)
  const response = await fetch(server.url, { headers: { 'X-Forwarded-For': address } })
  assert.equal(response.status, 200)
  return response.json()
}

describe('the middleware for Express', () => {
  it('locates the visitor whom a trusted proxy names', async () => {
    const { location, geolocation } = await visit(newClient(), '81.2.69.160')
    assert.equal(location.city, 'London')
    assert.equal(geolocation.network.asn, 'AS20712')
  })

  it('reads an IPv4 address in the form of IPv6', async () => {
    const { geolocation } = await visit(newClient(), '::ffff:81.2.69.160')
    assert.deepEqual(geolocation.query, { type: 'ip', value: '81.2.69.160', ipVersion: 4 })
  })

  it('makes no request for private addresses, unless it should', async () => {
    const { client, requests } = newWatchedClient()
    for (const address of ['10.0.0.1', '192.168.1.1', '::1', 'fd00::1', 'nonsense']) {
      assert.deepEqual(await visit(client, address), {})
    }
    assert.equal(requests.length, 0)
    await visit(client, '10.0.0.1', { locatesPrivate: true })
    assert.equal(requests.length, 1)
  })

  it('answers without a location if the look-up fails', async () => {
    await using stub = await startStub({ status: 503 })
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    assert.deepEqual(await visit(newClient({ url: stub.url }), '81.2.69.160', { onError }), {})
    assert.equal(errors.length, 1)
    assert.equal(stub.targets.length, 1)
  })

  it('does not let visitors wait for a service that does not answer', async () => {
    await using stub = await startStub('silence')
    const client = newClient({ url: stub.url })
    assert.deepEqual(await visit(client, '81.2.69.160', { timeoutMs: 50 }), {})
  })

  it('passes include and lang on', async () => {
    const options = { include: ['network'], lang: 'de' } as const
    const { location, geolocation } = await visit(newClient(), '81.2.69.160', options)
    assert.equal(location.country.name, 'Vereinigtes Königreich')
    assert.equal(geolocation.network.prefix, '81.2.69.0/24')
  })
})
