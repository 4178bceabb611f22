import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { createAskHostname } from '../../lib/parts/net/hostname.ts'
import { createFindHostname } from '../../lib/services/hostnames.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { addressOf } from '../support/networks.ts'
import { freshly } from '../support/scene/freshly.ts'

const LONDON = '160.69.2.81.in-addr.arpa'

describe('createFindHostname', () => {
  const dns = freshly(startDnsServer)
  const createFind = (now?: () => number) =>
    createFindHostname(createAskHostname([dns.address]), now)

  it('finds the name of an IPv4 or IPv6 address in lower case', async () => {
    const google = `${[...'2a001450400900000000000000000001'].reverse().join('.')}.ip6.arpa`
    dns.zone.set(LONDON, ['GW.Example.net']).set(google, ['six.example.net'])
    const find = createFind()
    assert.equal(await find(addressOf('81.2.69.160')), 'gw.example.net')
    assert.equal(await find(addressOf('::ffff:81.2.69.160')), 'gw.example.net')
    assert.equal(await find(addressOf('2a00:1450:4009::1')), 'six.example.net')
  })

  it('finds nothing if there is no name, or only texts that are not host names', async () => {
    const bad = ['<script>.example', 'a b.example', '-x.example', 'localhost', 'a"b.example']
    dns.zone.set(LONDON, bad).set('8.8.8.8.in-addr.arpa', [])
    const find = createFind()
    for (const ip of ['81.2.69.160', '8.8.8.8', '9.9.9.9']) {
      assert.equal(await find(addressOf(ip)), undefined, ip)
    }
  })

  it('asks once for the same address, and again after an hour', async () => {
    dns.zone.set(LONDON, ['gw.example.net'])
    let now = 0
    const find = createFind(() => now)
    const london = addressOf('81.2.69.160')
    await Promise.all([find(london), find(london)])
    now = HOUR_MS - 1
    await find(london)
    assert.equal(dns.asked.length, 1)
    dns.zone.delete(LONDON)
    now = HOUR_MS
    assert.equal(await find(london), undefined)
    assert.equal(dns.asked.length, 2)
    await find(london)
    assert.equal(dns.asked.length, 2, 'that there is none is kept as well')
  })

  it('finds nothing if the server fails or is silent, and asks again after a minute', async () => {
    dns.zone.set(LONDON, 'broken').set('8.8.8.8.in-addr.arpa', 'silent')
    let now = 0
    const find = createFind(() => now)
    for (const ip of ['81.2.69.160', '8.8.8.8']) {
      assert.equal(await find(addressOf(ip)), undefined, ip)
    }
    dns.zone.set(LONDON, ['gw.example.net'])
    assert.equal(await find(addressOf('81.2.69.160')), undefined)
    now = MINUTE_MS
    assert.equal(await find(addressOf('81.2.69.160')), 'gw.example.net')
  })

  it('runs at most 64 queries at the same time; an answer that needs one more has no name', async () => {
    const find = createFind()
    const names = Array.from({ length: 80 }, (_, n) => {
      dns.zone.set(`${n}.8.8.8.in-addr.arpa`, [`h${n}.example`])
      return find(addressOf(`8.8.8.${n}`))
    })
    const found = (await Promise.all(names)).filter((name) => name !== undefined)
    assert.equal(found.length, 64)
    assert.equal(await find(addressOf('8.8.8.79')), 'h79.example', 'later there is room again')
  })

  it('asks nobody about addresses that are not public', async () => {
    const find = createFind()
    // 6to4 (RFC 3056) and Teredo (RFC 4380) with private addresses inside.
    const embedded = ['2002:a00:1::1', '2002:c0a8:101::1', '2001:0:5e00:1:0:0:f5ff:fffe']
    const own = ['10.0.0.1', '::ffff:192.168.1.1', 'fe80::1', '127.0.0.1', '::1']
    for (const ip of [...own, ...embedded]) {
      assert.equal(await find(addressOf(ip)), undefined, ip)
    }
    assert.deepEqual(dns.asked, [])
  })
})
