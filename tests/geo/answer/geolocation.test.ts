import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { lookUp } from './look-up.ts'

const app = sharedScene({}, async () => {
  await ada.key()
})
const ada = app.user('ada')

const located = (address: string) => lookUp(ada, address)

/** The address that a service with these settings sees. */
async function clientSeen(
  env: Record<string, string>,
  from: string,
  headers: Record<string, string>,
) {
  await using proxied = await makeApp({ env })
  const bob = proxied.user('bob')
  await bob.key()
  return (await lookUp(bob, 'me', { from, headers })).result.query?.value
}

describe('GET /v1/ip/{ipAddress}', () => {
  it('answers with all fields that the databases have for a city', async () => {
    const { status, result } = await located('81.2.69.160')
    assert.equal(status, 200)
    const { requestId } = result.meta ?? {}
    assert.deepEqual(result, {
      meta: { precision: 'city', tier: 'pro', requestId, degraded: false },
      query: { type: 'ip', value: '81.2.69.160', ipVersion: 4 },
      location: {
        continent: { code: 'EU', name: 'Europe' },
        country: { code: 'GB', name: 'United Kingdom', flag: '🇬🇧' },
        region: { code: 'GB-ENG', name: 'England' },
        district: 'City of London',
        city: 'London',
        postalCode: 'EC2V',
        coordinates: { latitude: 51.5142, longitude: -0.0931, accuracyRadius: 6 },
        timezone: 'Europe/London',
        utcOffset: '+00:00',
        geoConfidence: 1,
      },
      network: { asn: 'AS20712', organization: 'Andrews & Arnold Ltd', domain: 'aa.net.uk' },
      sources: { geo: ['maxmind', 'dbip'], asn: ['maxmind', 'ipinfo'], tz: ['maxmind'] },
    })
  })

  const precisions = [
    ['a city', '81.2.69.1', 'city'],
    ['a region without a city', '8.8.8.8', 'region'],
    ['a country alone', '17.0.0.1', 'country'],
    ['a continent alone', '6.0.0.1', 'continent'],
    ['the country of registration alone', '7.0.0.1', 'country'],
    ['no English names', '9.0.0.1', 'city'],
    ['coordinates of zero', '11.0.0.1', 'city'],
    ['big numbers', '14.0.0.1', 'city'],
    ['a second provider that knows more', '5.0.0.1', 'city'],
    ['an IPv6 address', '2a00:1450:4009::1', 'city'],
  ] as const
  for (const [name, address, precision] of precisions) {
    it(`answers with precision ${precision} for ${name}`, async () => {
      const { status, result } = await located(address)
      assert.equal(status, 200)
      assert.equal(result.meta?.precision, precision)
    })
  }

  for (const address of ['10.0.0.1', '12.0.0.1', '13.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1']) {
    it(`answers 404 with precision none for ${address}, which has no location`, async () => {
      const { status, result } = await located(address)
      assert.equal(status, 404)
      assert.equal(result.meta?.precision, 'none')
      assert.equal('location' in result, false)
      assert.equal(result.query?.value, address)
    })
  }

  it('answers with the network of an address whose place is unknown', async () => {
    const { result } = await located('12.0.0.1')
    assert.deepEqual(result.network, { asn: 'AS7018', organization: 'AT&T' })
    assert.deepEqual(result.sources, { asn: ['maxmind'] })
  })

  const spellings = [
    ['2A00:1450:4009:0000::01', '2a00:1450:4009::1', 6],
    ['::FFFF:81.2.69.160', '::ffff:81.2.69.160', 6],
    ['::ffff:5102:45a0', '::ffff:81.2.69.160', 6],
    ['2002:5102:45a0::1', '2002:5102:45a0::1', 6],
    ['2001:0:0:0:0:0:aefd:ba5f', '2001::aefd:ba5f', 6],
  ] as const
  for (const [spelled, value, ipVersion] of spellings) {
    it(`finds London by ${spelled} and echoes ${value}`, async () => {
      const { status, result } = await located(spelled)
      assert.equal(status, 200)
      assert.deepEqual(result.query, { type: 'ip', value, ipVersion })
      assert.equal(result.location?.city, 'London')
    })
  }

  it('does not treat ::a.b.c.d as the IPv4 address', async () => {
    assert.equal((await located('::81.2.69.160')).status, 404)
  })

  const invalid = ['foo', '1.2.3', '081.2.69.160', '1.2.3.4.5', '::1%25eth0', '[::1]', '256.1.1.1']
  for (const text of [...invalid, '1.2.3.4%20', '1.2.3.4%2F24', '0x51.2.69.160', '%E2%9C%93']) {
    it(`answers 400 with the text in query for ${text}`, async () => {
      const answer = await ada.lookUp(text)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.deepEqual(v.parse(v.object({ query: v.unknown() }), answer.body).query, {
        type: 'ip',
        value: decodeURIComponent(text),
      })
    })
  }

  it('answers 400, not 500, for an invalid URL encoding', async () => {
    assert.equal((await ada.lookUp('%E0%A4%A')).status, 400)
    assert.equal((await ada.lookUp('1.2.3.4%et')).status, 400)
  })

  it('sends only ASCII, which parses to the right names', async () => {
    const { text, body } = await ada.lookUp('16.0.0.1')
    assert.match(text, /^[ -~]+$/)
    assert.equal(v.parse(GeolocationResult, body).location?.city, 'São "Paulo" 🌆')
  })

  it('names the tier of the key', async () => {
    const free = app.user('free')
    await free.key({ plan: 'free' })
    assert.equal((await lookUp(free, '8.8.8.8')).result.meta?.tier, 'free')
  })
})

describe('GET /v1/ip/me', () => {
  it('locates the peer, even an IPv4 peer of an IPv6 socket', async () => {
    for (const from of ['81.2.69.160', '::ffff:81.2.69.160']) {
      const { status, result } = await lookUp(ada, 'me', { from })
      const { query, location } = result
      assert.equal(status, 200)
      assert.deepEqual(query, { type: 'ip', value: '81.2.69.160', ipVersion: 4 })
      assert.equal(location?.city, 'London')
    }
  })

  it('ignores X-Forwarded-For from an untrusted peer', async () => {
    const headers = { 'x-forwarded-for': '81.2.69.160' }
    assert.equal((await ada.lookUp('me', { headers })).status, 404)
  })

  it('reads X-Forwarded-For from a trusted proxy, from the right', async () => {
    const env = { MERIDIAN_TRUSTED_PROXIES: '10.0.0.0/8' }
    const headers = { 'x-forwarded-for': '5.0.0.1, 81.2.69.160, 10.2.2.2' }
    assert.equal(await clientSeen(env, '10.1.1.1', headers), '81.2.69.160')
  })

  it('trusts a proxy whose network was written as IPv4-mapped', async () => {
    const env = { MERIDIAN_TRUSTED_PROXIES: '::ffff:10.0.0.0/104' }
    const headers = { 'x-forwarded-for': '81.2.69.160:51234' }
    assert.equal(await clientSeen(env, '::ffff:10.1.1.1', headers), '81.2.69.160')
  })

  it('reads only MERIDIAN_CLIENT_HEADER if it is set, as on Fly', async () => {
    const env = {
      MERIDIAN_TRUSTED_PROXIES: '172.16.0.0/12',
      MERIDIAN_CLIENT_HEADER: 'Fly-Client-IP',
    }
    const forwarded = '5.0.0.1, 81.2.69.160, 66.241.124.230'
    const headers = { 'x-forwarded-for': forwarded, 'fly-client-ip': '81.2.69.160' }
    assert.equal(await clientSeen(env, '172.16.3.2', headers), '81.2.69.160')
    assert.equal(await clientSeen(env, '81.2.69.144', headers), '81.2.69.144')
  })

  it('answers 404 without a query if the address is unknown', async () => {
    const { status, result } = await lookUp(ada, 'me', { from: '/run/meridian.sock' })
    assert.deepEqual([status, result.query], [404, undefined])
    assert.equal((await ada.lookUp('me/timezone', { from: 'nobody' })).status, 404)
  })
})

describe('the timezone of an address', () => {
  const zones = [
    ['81.2.69.160', 'Europe/London'],
    ['19.0.0.1', undefined],
    ['5.0.0.1', 'Europe/Berlin'],
    ['14.0.0.1', 'Asia/Tokyo'],
    ['9.0.0.1', 'Europe/Vienna'],
    // Known although the full answer of precision country does not show it
    ['7.0.0.1', 'Europe/Paris'],
    ['17.0.0.1', undefined],
    ['6.0.0.1', undefined],
    ['10.0.0.1', undefined],
  ] as const
  for (const [address, zone] of zones) {
    it(`of ${address} is ${zone ?? 'a 404 with a text'}`, async () => {
      const { status, body } = await ada.lookUp(`${address}/timezone`)
      const own = await ada.lookUp('me/timezone', { from: address })
      assert.deepEqual([own.status, own.body], [status, body])
      assert.equal(status, zone === undefined ? 404 : 200)
      assert.equal(body, zone ?? `No timezone data for ${address}`)
    })
  }

  it('is 400 for a text that is not an address', async () => {
    assert.equal(codeOf(await ada.lookUp('foo/timezone')), 'BAD_REQUEST')
  })
})

describe('GET /v1/ip/{ipAddress}/validation', () => {
  const texts = [
    ['1.2.3.4', true],
    ['::', true],
    ['::ffff:1.2.3.4', true],
    ['me', false],
    ['1.2.3', false],
    ['fe80::1%25eth0', false],
    ['1.2.3.4%0A', false],
    ['%00', false],
    ['%E0%A4%A', false],
    ['a'.repeat(4000), false],
  ] as const
  for (const [text, valid] of texts) {
    it(`answers ${valid} for ${text.slice(0, 40)}`, async () => {
      const { status, body } = await ada.lookUp(`${text}/validation`)
      assert.deepEqual([status, body], [200, valid])
    })
  }
})
