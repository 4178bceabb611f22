import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../../support/helpers.ts'

const LONDON = '/v1/ip/81.2.69.160'

let dns: DnsServer
let app: TestApp
let key: string
before(async () => {
  dns = await startDnsServer()
  dns.zone.set('160.69.2.81.in-addr.arpa', ['gw.example.net'])
  app = await makeApp({ env: { MERIDIAN_DNS: dns.address } })
  key = await app.makeKey()
})
after(async () => {
  await app.close()
  await dns[Symbol.asyncDispose]()
})

const get = async (path: string, by = key, of = app) => {
  const { status, body } = await of.send('GET', path, { key: by })
  return { status, result: v.parse(GeolocationResult, body) }
}

describe('include=hostname', () => {
  it('adds the name of the address, and nothing else', async () => {
    const { result } = await get(`${LONDON}?include=hostname`)
    const { hostname, meta, ...rest } = result
    assert.equal(hostname, 'gw.example.net')
    const usual = (await get(LONDON)).result
    assert.deepEqual({ ...rest, meta: { ...meta, requestId: usual.meta?.requestId } }, usual)
  })

  it('adds nothing to the answer for an address without a name', async () => {
    const { status, result } = await get('/v1/ip/8.8.8.8?include=hostname,network')
    assert.deepEqual([status, result.hostname], [200, undefined])
    assert.equal(result.network?.prefix, '8.8.8.0/24')
  })

  it('can be named among the fields, also as text', async () => {
    const path = `${LONDON}?fields=hostname`
    assert.deepEqual((await get(path)).result, { hostname: 'gw.example.net' })
    const headers = { accept: 'text/plain' }
    assert.equal((await app.send('GET', path, { key, headers })).text, 'gw.example.net\n')
  })

  it('asks nobody unless it is included', async () => {
    const before = dns.asked.length
    await get('/v1/ip/81.2.69.161')
    await get('/v1/ip/81.2.69.161?include=network')
    assert.equal(dns.asked.length, before)
  })

  it('asks nobody over the cap', async () => {
    const free = await app.makeKey({ plan: 'free', email: 'free@example.com' })
    const caller = app.services.keys.find(free, NOON)
    assert.ok(caller)
    app.services.meters.open({ ...caller, key: caller }, NOON).count(5_000)
    const before = dns.asked.length
    const { result } = await get('/v1/ip/81.2.69.162?include=hostname', free)
    assert.deepEqual([result.meta?.degraded, result.hostname], [true, undefined])
    assert.equal(dns.asked.length, before)
  })

  it('adds nothing unless MERIDIAN_DNS is set, and a header says so', async () => {
    await using silent = await makeApp()
    const own = await silent.makeKey()
    const { status, result } = await get(`${LONDON}?include=hostname`, own, silent)
    assert.deepEqual([status, result.hostname], [200, undefined])
    const header = async (path: string, of = silent, by = own) =>
      (await of.send('GET', path, { key: by })).headers.get('not-included')
    assert.equal(await header(`${LONDON}?include=hostname`), 'hostname')
    assert.equal(await header('/v1/ip/me?fields=hostname,query'), 'hostname')
    assert.equal(await header(`${LONDON}?include=network,hostname,privacy`), 'privacy, hostname')
    assert.equal(await header(LONDON), null)
    assert.equal(await header('/v1/ip/8.8.8.8?include=hostname', app, key), null)
  })

  it('is refused in batches', async () => {
    for (const more of [{ include: ['hostname'] }, { fields: ['hostname'] }]) {
      const body = { ips: ['8.8.8.8'], ...more }
      assert.equal(codeOf(await app.send('POST', '/v1/ip/batch', { key, body })), 'BAD_REQUEST')
    }
  })
})
