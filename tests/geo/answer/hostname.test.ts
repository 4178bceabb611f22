import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts'
import { codeOf, makeApp, type TestApp } from '../../support/helpers.ts'
import type { Person } from '../../support/scene/person.ts'
import { answerTo, LONDON, lookUp, overCap } from './look-up.ts'

let dns: DnsServer
let app: TestApp
let ada: Person
before(async () => {
  dns = await startDnsServer()
  dns.zone.set('160.69.2.81.in-addr.arpa', ['gw.example.net'])
  app = await makeApp({ env: { MERIDIAN_DNS: dns.address } })
  ada = app.user('ada')
  await ada.key()
})
after(async () => {
  await app.close()
  await dns[Symbol.asyncDispose]()
})

describe('include=hostname', () => {
  it('adds the name of the address, and nothing else', async () => {
    const { hostname, ...rest } = (await lookUp(ada, `${LONDON}?include=hostname`)).result
    assert.equal(hostname, 'gw.example.net')
    const usual = (await lookUp(ada)).result
    assert.deepEqual(answerTo(usual.meta?.requestId, rest), usual)
  })

  it('adds nothing to the answer for an address without a name', async () => {
    const { status, result } = await lookUp(ada, '8.8.8.8?include=hostname,network')
    assert.deepEqual([status, result.hostname], [200, undefined])
    assert.equal(result.network?.prefix, '8.8.8.0/24')
  })

  it('can be named among the fields, also as text', async () => {
    const path = `${LONDON}?fields=hostname`
    assert.deepEqual((await lookUp(ada, path)).result, { hostname: 'gw.example.net' })
    const headers = { accept: 'text/plain' }
    assert.equal((await ada.lookUp(path, { headers })).text, 'gw.example.net\n')
  })

  it('asks nobody unless it is included', async () => {
    const before = dns.asked.length
    await lookUp(ada, '81.2.69.161')
    await lookUp(ada, '81.2.69.161?include=network')
    assert.equal(dns.asked.length, before)
  })

  it('asks nobody over the cap', async () => {
    const free = await overCap(app)
    const before = dns.asked.length
    const { result } = await lookUp(free, '81.2.69.162?include=hostname')
    assert.deepEqual([result.meta?.degraded, result.hostname], [true, undefined])
    assert.equal(dns.asked.length, before)
  })

  it('adds nothing unless MERIDIAN_DNS is set, and a header says so', async () => {
    await using silent = await makeApp()
    const bob = silent.user('bob')
    await bob.key()
    const { status, result } = await lookUp(bob, `${LONDON}?include=hostname`)
    assert.deepEqual([status, result.hostname], [200, undefined])
    const header = async (path: string, by = bob) => (await lookUp(by, path)).notIncluded
    assert.equal(await header(`${LONDON}?include=hostname`), 'hostname')
    assert.equal(await header('me?fields=hostname,query'), 'hostname')
    assert.equal(await header(`${LONDON}?include=network,hostname,privacy`), 'privacy, hostname')
    assert.equal(await header(LONDON), null)
    assert.equal(await header('8.8.8.8?include=hostname', ada), null)
  })

  it('is refused in batches', async () => {
    for (const more of [{ include: ['hostname'] }, { fields: ['hostname'] }]) {
      const body = { ips: ['8.8.8.8'], ...more }
      assert.equal(codeOf(await ada.send('POST', '/v1/ip/batch', body)), 'BAD_REQUEST')
    }
  })
})
