import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { AddressSummary } from '../../../lib/contract/geo/summary.ts'
import { compileLists } from '../../../lib/geo/network-lists/compile-lists.ts'
import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { geoFiles, mmdbBytes } from '../../support/geo-files.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { networkOf } from '../../support/networks.ts'
import type { Person } from '../../support/scene/person.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { answerTo, LONDON, lookUp, overCap } from './look-up.ts'

const folder = tempFolder()

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const anonymous = () => {
  const records = {
    '81.2.69.160/31': { is_anonymous: true, is_anonymous_vpn: true, provider_name: 'NordVPN' },
    '8.8.8.0/24': { is_anonymous: true, is_hosting_provider: true },
  }
  return write('Anonymous.mmdb', mmdbBytes(records, { databaseType: 'GeoIP-Anonymous-Plus' }))
}
const ipinfo = () => {
  const none = { hosting: false, vpn: false, proxy: false, tor: false, relay: false }
  const records = { '81.2.69.0/24': none, '10.0.0.0/8': { ...none, hosting: true } }
  const databaseType = 'ipinfo ipinfo_privacy.mmdb'
  return write('privacy.mmdb', mmdbBytes(records, { databaseType }))
}
const lists = () => {
  const list = FREE_LISTS.find(({ id }) => id === 'aws') ?? assert.fail()
  return write('lists.mmdb', compileLists([{ list, networks: [networkOf('8.8.8.8/32')] }], NOON))
}

let app: TestApp
let ada: Person
before(async () => {
  const { city, asn } = geoFiles()
  const files = [city, asn, anonymous(), ipinfo(), lists()]
  app = await makeApp({ env: { MERIDIAN_GEO: files.join(',') } })
  ada = app.user('ada')
  await ada.key()
})
after(() => app.close())

const withPrivacy = (ip: string, by = ada) => lookUp(by, `${ip}?include=privacy`)

describe('include=privacy', () => {
  it('adds what the sources state together, and nothing else', async () => {
    const { privacy, ...result } = (await withPrivacy(LONDON)).result
    const flags = { hosting: false, vpn: true, proxy: false, tor: false, relay: false }
    assert.deepEqual(privacy, { ...flags, provider: 'NordVPN' })
    const usual = (await lookUp(ada)).result
    const sources = { ...usual.sources, privacy: ['maxmind', 'ipinfo'] }
    assert.deepEqual(answerTo(usual.meta?.requestId, result), { ...usual, sources })
  })

  it('names the owners of the free lists as sources', async () => {
    const { result } = await withPrivacy('8.8.8.8')
    assert.deepEqual(result.privacy, { hosting: true, service: 'Amazon AWS' })
    assert.deepEqual(result.sources?.privacy, ['maxmind', 'aws'])
  })

  it('adds nothing for an address about which no source states anything', async () => {
    const { result } = await withPrivacy('5.0.0.1')
    assert.deepEqual([result.privacy, result.sources?.privacy], [undefined, undefined])
  })

  it('leaves the status to the location', async () => {
    const { status, result } = await withPrivacy('10.0.0.1')
    assert.equal(status, 404)
    assert.equal(result.privacy?.hosting, true)
    assert.deepEqual(result.sources, { privacy: ['ipinfo'] })
  })

  it('can be named among the fields', async () => {
    const fieldsOf = async (fields: string) => (await ada.lookUp(`${LONDON}?fields=${fields}`)).body
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
      (await lookUp(ada, `${LONDON}?include=${include}`)).result.network?.prefix
    assert.equal(await prefixFor('network'), '81.2.69.0/24')
    assert.equal(await prefixFor('network,privacy'), '81.2.69.160/31')
    assert.equal(await prefixFor('privacy,network'), '81.2.69.160/31')
  })

  it('adds nothing over the cap', async () => {
    const { result } = await withPrivacy(LONDON, await overCap(app))
    const { meta, privacy, sources } = result
    assert.deepEqual([meta?.degraded, privacy, sources?.privacy], [true, undefined, undefined])
  })

  it('adds nothing unless data about privacy is loaded, and a header and meta say so', async () => {
    await using plain = await makeApp()
    const bob = plain.user('bob')
    await bob.key()
    const { status, result } = await withPrivacy(LONDON, bob)
    assert.deepEqual([status, result.privacy, result.sources?.privacy], [200, undefined, undefined])
    assert.deepEqual(result.meta?.notIncluded, ['privacy'])
    assert.equal(Object.hasOwn((await lookUp(bob, LONDON)).result.meta ?? {}, 'notIncluded'), false)
    const metaOf = async (path: string, body: object, by = bob) =>
      Object(Object((await by.send('POST', `/v1/ip/${path}`, body)).body).meta).notIncluded
    const header = async (path: string, body?: object, by = bob) => {
      const method = body === undefined ? 'GET' : 'POST'
      return (await by.send(method, `/v1/ip/${path}`, body)).headers.get('not-included')
    }
    const list = { ips: ['81.2.69.160'] }
    const include = { ...list, include: ['privacy'] }
    assert.equal(await header(`${LONDON}?include=privacy`), 'privacy')
    assert.equal(await header(`${LONDON}?fields=privacy.vpn`), 'privacy')
    assert.equal(await header('batch', include), 'privacy')
    assert.equal(await header('summary', include), 'privacy')
    assert.deepEqual(await metaOf('batch', include), ['privacy'])
    assert.deepEqual(await metaOf('summary', include), ['privacy'])
    assert.equal(await metaOf('batch', list), undefined)
    assert.equal(await metaOf('summary', include, ada), undefined)
    assert.equal(await header('batch', list), null)
    assert.equal(await header(`${LONDON}?include=privacy`, undefined, ada), null)
    assert.equal(await header('batch', include, ada), null)
  })
})

describe('a batch that includes privacy', () => {
  const ips = ['81.2.69.160', '8.8.8.8', '5.0.0.1', 'nope']

  it('has it in each result', async () => {
    const body = { ips, include: ['privacy'], fields: ['privacy'] }
    const { body: answer } = await ada.send('POST', '/v1/ip/batch', body)
    const { results } = v.parse(v.object({ results: v.array(v.any()) }), answer)
    assert.equal(results[0].privacy.vpn, true)
    assert.deepEqual(results.slice(1, 3), [
      { privacy: { hosting: true, service: 'Amazon AWS' } },
      {},
    ])
  })

  it('has columns for it as CSV, empty where nothing is stated', async () => {
    const body = { ips, include: ['privacy'] }
    const headers = { accept: 'text/csv' }
    const { text } = await ada.send('POST', '/v1/ip/batch', body, { headers })
    const [header = '', ...rows] = text.trimEnd().split('\r\n')
    const columns = 'hosting,vpn,proxy,tor,relay,residential_proxy,service,provider,degraded,error'
    assert.ok(header.endsWith(`,${columns}`), header)
    assert.match(rows[0] ?? '', /,false,true,false,false,false,,,NordVPN,false,$/)
    assert.match(rows[1] ?? '', /,true,,,,,,Amazon AWS,,false,$/)
    assert.match(rows[2] ?? '', /,,,,,,,,,false,$/)
  })
})

describe('a summary that includes privacy', () => {
  const post = (body: object) => ada.send('POST', '/v1/ip/summary', body)

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
