import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { type GetAddress, locateVisitors } from '../src/hono.ts'
import type { Meridian, VisitorOptions } from '../src/index.ts'
import { newClient, newWatchedClient } from './parts/service.ts'
import { startServer, startStub } from './parts/stub-server.ts'

const fromProxy: GetAddress = (context) => context.req.header('X-Real-IP')

interface Visit {
  readonly client: Meridian
  readonly getAddress?: GetAddress
  readonly options?: VisitorOptions
}

/** What a page of Hono sees of a visitor. */
async function visit(address: string, { client, getAddress = fromProxy, options = {} }: Visit) {
  const app = new Hono().use(locateVisitors(client, getAddress, options)).get('/', (context) => {
    const { location, geolocation } = context.var
    return context.json({ location, geolocation })
  })
  await using server = await startServer(getRequestListener(app.fetch))
  const response = await fetch(server.url, { headers: { 'X-Real-IP': address } })
  assert.equal(response.status, 200)
  return response.json()
}

describe('the middleware for Hono', () => {
  it('locates the visitor whom the function names', async () => {
    const { location, geolocation } = await visit('81.2.69.160', { client: newClient() })
    assert.equal(location.city, 'London')
    assert.equal(geolocation.network.asn, 'AS20712')
  })

  it('takes getConnInfo of the runtime', async () => {
    const options = { locatesPrivate: true }
    const found = await visit('', { client: newClient(), getAddress: getConnInfo, options })
    assert.deepEqual(found.geolocation.query, { type: 'ip', value: '127.0.0.1', ipVersion: 4 })
    assert.equal('location' in found, false)
  })

  it('makes no request for private addresses and without an address', async () => {
    const { client, requests } = newWatchedClient()
    assert.deepEqual(await visit('', { client, getAddress: getConnInfo }), {})
    assert.deepEqual(await visit('', { client, getAddress: () => undefined }), {})
    assert.deepEqual(await visit('10.0.0.1', { client }), {})
    assert.equal(requests.length, 0)
  })

  it('answers without a location if the look-up fails', async () => {
    await using stub = await startStub('cut')
    const errors: unknown[] = []
    const options = { onError: (error: unknown) => errors.push(error) }
    const client = newClient({ url: stub.url })
    assert.deepEqual(await visit('81.2.69.160', { client, options }), {})
    assert.equal(errors.length, 1)
  })
})
