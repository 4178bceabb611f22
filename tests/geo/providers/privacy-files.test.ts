import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MmdbValue } from '../../../lib/geo/mmdb/value.ts'
import { ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { openRecords } from '../open-file.ts'

/** Opens a file with one record, besides empty ones, and returns what is known of its only address. */
async function read(databaseType: string, record: MmdbValue, more: MmdbValue = {}) {
  const records = { '0.0.0.0/1': {}, '1.2.3.4/32': record, '9.9.9.9/32': more }
  const database = await openRecords(records, databaseType)
  const address = ipv4FromBits(0x0102_0304)
  assert.deepEqual(database.find(address), { place: undefined, network: undefined })
  assert.equal(database.findPrivacy(ipv4FromBits(0x0102_0305)), undefined)
  const finding = database.findPrivacy(address)
  for (let again = 0; again < 3; again++) assert.deepEqual(database.findPrivacy(address), finding)
  return { subject: database.subject, provider: database.provider, finding }
}

const ANONYMOUS = {
  is_anonymous: true,
  is_anonymous_vpn: true,
  is_hosting_provider: true,
  is_public_proxy: true,
  is_residential_proxy: true,
  is_tor_exit_node: true,
}

describe('a file about privacy', () => {
  it('may be GeoIP2 Anonymous IP', async () => {
    assert.deepEqual(await read('GeoIP2-Anonymous-IP', ANONYMOUS), {
      subject: 'privacy',
      provider: 'maxmind',
      finding: {
        privacy: { hosting: true, vpn: true, proxy: true, tor: true, residentialProxy: true },
        sources: ['maxmind'],
      },
    })
  })

  it('may be GeoIP Anonymous Plus, which names providers', async () => {
    const record = {
      anonymizer_confidence: 99,
      is_anonymous: true,
      is_anonymous_vpn: true,
      network_last_seen: '2026-04-14',
      provider_name: 'NordVPN',
    }
    const { finding } = await read('GeoIP-Anonymous-Plus', record)
    assert.deepEqual(finding?.privacy, { vpn: true, provider: 'NordVPN' })
  })

  it("may be IPinfo's, whose flags are booleans", async () => {
    const flags = { hosting: false, proxy: false, relay: false, tor: false, vpn: true }
    const privacy = { ...flags, service: 'X' }
    assert.deepEqual(await read('ipinfo ipinfo_privacy.mmdb', privacy), {
      subject: 'privacy',
      provider: 'ipinfo',
      finding: { privacy, sources: ['ipinfo'] },
    })
  })

  it('may be an older one of IPinfo, whose flags are texts: an empty one states nothing', async () => {
    const record = { hosting: 'true', proxy: '', relay: '', tor: '', vpn: '', service: '' }
    const { finding } = await read('ipinfo standard_privacy.mmdb', record)
    assert.deepEqual(finding?.privacy, { hosting: true })
  })

  const types = [
    ['VPN', { vpn: true }],
    ['TOR', { tor: true }],
    ['DCH', { hosting: true }],
    ['PUB', { proxy: true }],
    ['WEB', { proxy: true }],
    ['CPN', { relay: true }],
    ['RES', { residentialProxy: true }],
    ['SES', undefined],
    ['-', undefined],
  ] as const
  for (const [proxy_type, privacy] of types) {
    it(`may be IP2Proxy with the type ${proxy_type}`, async () => {
      const country = { country_code: 'US', country_name: 'United States' }
      const record = { proxy_type, ...country, provider: '-' }
      const { provider, subject, finding } = await read('IP2Proxy-PX11', record)
      assert.deepEqual([provider, subject], ['ip2proxy', 'privacy'])
      assert.deepEqual(finding?.privacy, privacy)
    })
  }

  it('may be IP2Proxy with a provider', async () => {
    const { finding } = await read('IP2Proxy-PX11', { proxy_type: 'VPN', provider: 'ExpressVPN' })
    assert.deepEqual(finding?.privacy, { vpn: true, provider: 'ExpressVPN' })
  })

  it('states nothing with values of another type', async () => {
    const flags = { is_anonymous: true, is_anonymous_vpn: 'yes', is_public_proxy: 1 }
    const odd = { ...flags, provider_name: 7 }
    const { finding } = await read('GeoIP2-Anonymous-IP', odd, ANONYMOUS)
    assert.equal(finding, undefined)
  })
})
