import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { AddressSummary } from '../../../lib/contract/geo/summary.ts'
import { compileLists } from '../../../lib/geo/network-lists/compile-lists.ts'
import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { parseNetwork } from '../../../lib/parts/net/network.ts'
import { geoFiles, mmdbBytes } from '../../support/geo-files.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const LONDON = '/v1/ip/81.2.69.160'
const folder = tempFolder()

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const anonymous = () =>
  write(
    'Anonymous.mmdb',
    mmdbBytes(
      {
        '81.2.69.160/31': { is_anonymous: true, is_anonymous_vpn: true, provider_name: 'NordVPN' },
        '8.8.8.0/24': { is_anonymous: true, is_hosting_provider: true },
      },
      { databaseType: 'GeoIP-Anonymous-Plus' },
    ),
  )
const ipinfo = () =>
  write(
    'privacy.mmdb',
    mmdbBytes(
      {
        '81.2.69.0/24': { hosting: false, vpn: false, proxy: false, tor: false, relay: false },
        '10.0.0.0/8': { hosting: true, vpn: false, proxy: false, tor: false, relay: false },
      },
      { databaseType: 'ipinfo ipinfo_privacy.mmdb' },
    ),
  )
const lists = () => {
  const network = parseNetwork('8.8.8.8/32')
  assert.ok(network)
  const [aws] = FREE_LISTS.filter(({ id }) => id === 'aws')
  assert.ok(aws)
  return write('lists.mmdb', compileLists([{ list: aws, networks: [network] }], NOON))
}

let app: TestApp
let key: string
before(async () => {
  const { city, asn } = geoFiles()
  const files = [city, asn, anonymous(), ipinfo(), lists()]
  app = await makeApp({ env: { MERIDIAN_GEO: files.join(',') } })
  key = await app.makeKey()
})
after(() => app.close())

const get = async (path: string, by = key, of = app) => {
  const { status, body } = await of.send('GET', path, { key: by })
  return { status, result: v.parse(GeolocationResult, body) }
}

/** Uses up the month of a new key. */
async function keyOverCap() {
  const free = await app.makeKey({ plan: 'free', email: 'free@example.com' })
  const caller = app.services.keys.find(free, NOON)
  assert.ok(caller)
  app.services.meters.open({ ...caller, key: caller }, NOON).count(5_000)
  return free
}

describe('include=privacy', () => {
  it('adds what the sources state together, and nothing else', async () => {
    const { result } = await get(`${LONDON}?include=privacy`)
    const { privacy, sources, meta, ...rest } = result
    assert.deepEqual(privacy, {
      hosting: false,
      vpn: true,
      proxy: false,
      tor: false,
      relay: false,
      provider: 'NordVPN',
    })
    const usual = (await get(LONDON)).result
    assert.deepEqual(sources, { ...usual.sources, privacy: ['maxmind', 'ipinfo'] })
    const { requestId = '' } = usual.meta ?? {}
    assert.deepEqual({ ...rest, sources: usual.sources, meta: { ...meta, requestId } }, usual)
  })

  it('names the owners of the free lists as sources', async () => {
    const { result } = await get('/v1/ip/8.8.8.8?include=privacy')
    assert.deepEqual(result.privacy, { hosting: true, service: 'Amazon AWS' })
    assert.deepEqual(result.sources?.privacy, ['maxmind', 'aws'])
  })

  it('adds nothing for an address about which no source states anything', async () => {
    const { result } = await get('/v1/ip/5.0.0.1?include=privacy')
    assert.deepEqual([result.privacy, result.sources?.privacy], [undefined, undefined])
  })

  it('leaves the status to the location', async () => {
    const { status, result } = await get('/v1/ip/10.0.0.1?include=privacy')
    assert.equal(status, 404)
    assert.equal(result.privacy?.hosting, true)
    assert.deepEqual(result.sources, { privacy: ['ipinfo'] })
  })

  it('can be named among the fields', async () => {
    const fieldsOf = async (fields: string) => {
      const { body } = await app.send('GET', `${LONDON}?fields=${fields}`, { key })
      return body
    }
    assert.deepEqual(await fieldsOf('privacy.vpn,sources.privacy,location.city'), {
      location: { city: 'London' },
      privacy: { vpn: true },
      sources: { privacy: ['maxmind', 'ipinfo'] },
    })
    assert.deepEqual(await fieldsOf('location.city'), { location: { city: 'London' } })
    assert.deepEqual(await fieldsOf('sources'), {
      sources: { geo: ['maxmind'], asn: ['maxmind'], tz: ['maxmind'] },
    })
  })

  it('narrows the prefix to the block with the same privacy, unless it is not included', async () => {
    const prefixFor = async (include: string) =>
      (await get(`${LONDON}?include=${include}`)).result.network?.prefix
    assert.equal(await prefixFor('network'), '81.2.69.0/24')
    assert.equal(await prefixFor('network,privacy'), '81.2.69.160/31')
    assert.equal(await prefixFor('privacy,network'), '81.2.69.160/31')
  })

  it('adds nothing over the cap', async () => {
    const { result } = await get(`${LONDON}?include=privacy`, await keyOverCap())
    assert.deepEqual(
      [result.meta?.degraded, result.privacy, result.sources?.privacy],
      [true, undefined, undefined],
    )
  })

  it('adds nothing unless data about privacy is loaded, and a header says so', async () => {
    await using plain = await makeApp()
    const own = await plain.makeKey()
    const { status, result } = await get(`${LONDON}?include=privacy`, own, plain)
    assert.deepEqual([status, result.privacy, result.sources?.privacy], [200, undefined, undefined])
    const header = async (path: string, body?: object, of = plain, by = own) => {
      const method = body === undefined ? 'GET' : 'POST'
      return (await of.send(method, path, { key: by, body })).headers.get('not-included')
    }
    const list = { ips: ['81.2.69.160'] }
    const include = { ...list, include: ['privacy'] }
    assert.equal(await header(`${LONDON}?include=privacy`), 'privacy')
    assert.equal(await header(`${LONDON}?fields=privacy.vpn`), 'privacy')
    assert.equal(await header('/v1/ip/batch', include), 'privacy')
    assert.equal(await header('/v1/ip/summary', include), 'privacy')
    assert.equal(await header('/v1/ip/batch', list), null)
    assert.equal(await header(`${LONDON}?include=privacy`, undefined, app, key), null)
    assert.equal(await header('/v1/ip/batch', include, app, key), null)
  })
})

describe('a batch that includes privacy', () => {
  const ips = ['81.2.69.160', '8.8.8.8', '5.0.0.1', 'nope']

  it('has it in each result', async () => {
    const body = { ips, include: ['privacy'], fields: ['privacy'] }
    const { body: answer } = await app.send('POST', '/v1/ip/batch', { key, body })
    const { results } = v.parse(v.object({ results: v.array(v.any()) }), answer)
    assert.equal(results[0].privacy.vpn, true)
    assert.deepEqual(results.slice(1, 3), [
      { privacy: { hosting: true, service: 'Amazon AWS' } },
      {},
    ])
  })

  it('has columns for it as CSV, empty where nothing is stated', async () => {
    const { text } = await app.send('POST', '/v1/ip/batch', {
      key,
      headers: { accept: 'text/csv' },
      body: { ips, include: ['privacy'] },
    })
    const [header = '', ...rows] = text.trimEnd().split('\r\n')
    const columns = 'hosting,vpn,proxy,tor,relay,residential_proxy,service,provider,degraded,error'
    assert.ok(header.endsWith(`,${columns}`), header)
    assert.match(rows[0] ?? '', /,false,true,false,false,false,,,NordVPN,false,$/)
    assert.match(rows[1] ?? '', /,true,,,,,,Amazon AWS,,false,$/)
    assert.match(rows[2] ?? '', /,,,,,,,,,false,$/)
  })
})

describe('a summary that includes privacy', () => {
  const post = (body: object, by = key) => app.send('POST', '/v1/ip/summary', { key: by, body })

  it('counts the addresses for which a flag is true', async () => {
    const ips = ['81.2.69.160', '81.2.69.160', '81.2.69.1', '8.8.8.8', '5.0.0.1', 'nope']
    const { body } = await post({ ips, include: ['privacy'] })
    assert.deepEqual(v.parse(AddressSummary, body).privacy, { vpn: 2, hosting: 1 })
    const plain = v.parse(AddressSummary, (await post({ ips })).body)
    assert.equal('privacy' in plain, false)
  })

  it('refuses anything else', async () => {
    for (const include of [[], ['network'], ['hostname'], 'privacy']) {
      assert.equal(codeOf(await post({ ips: ['8.8.8.8'], include })), 'BAD_REQUEST')
    }
  })
})

describe('a file about privacy', () => {
  it('is listed with its provider and attribution', async () => {
    const { body } = await app.send('GET', '/v1')
    const { databases } = v.parse(v.object({ databases: v.array(v.any()) }), body)
    const listed = databases.map(({ name, provider }) => `${name} ${provider}`)
    for (const one of ['Anonymous maxmind', 'privacy ipinfo', 'lists lists']) {
      assert.ok(listed.includes(one), one)
    }
    assert.match(JSON.stringify(databases), /the Tor Project .*X4BNet/)
  })

  it('cannot be the only one', async () => {
    await assert.rejects(makeApp({ env: { MERIDIAN_GEO: anonymous() } }), /no database is usable/)
  })
})
