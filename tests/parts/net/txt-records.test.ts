import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindTxt } from '../../../lib/parts/net/txt-records.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { freshly } from '../../support/scene/freshly.ts'

describe('createFindTxt', () => {
  const dns = freshly(startDnsServer)

  it('joins the parts of each record', async () => {
    const records = ['v=spf1 -all', 'x'.repeat(600)]
    dns.zone.set('shop.example', records)
    const found = await createFindTxt([dns.address])('shop.example')
    assert.deepEqual(found.toSorted(), records)
  })

  it('finds nothing for a host without records, an unknown host, and a name that is too long', async () => {
    dns.zone.set('empty.example', [])
    const findTxt = createFindTxt([dns.address])
    for (const host of ['empty.example', 'unknown.example', `${'a'.repeat(64)}.example`]) {
      assert.deepEqual(await findTxt(host), [], host)
    }
  })

  it('fails within seconds if the server fails or is silent', async () => {
    dns.zone.set('broken.example', 'broken').set('silent.example', 'silent')
    const findTxt = createFindTxt([dns.address])
    await assert.rejects(findTxt('broken.example'), { code: 'ESERVFAIL' })
    await assert.rejects(findTxt('silent.example'), /ETIMEOUT|No DNS server answered/)
  })
})
