import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Meridian } from '../src/index.ts'
import { KEY, newClient, newWatchedClient, URL_OF_SERVICE } from './parts/service.ts'

const client = newClient()

describe('locate', () => {
  it('answers what the service does', async () => {
    const headers = { 'X-API-Key': KEY }
    const response = await fetch(`${URL_OF_SERVICE}/v1/ip/81.2.69.160`, { headers })
    const { meta: _, ...plain } = await response.json()
    const { meta, ...result } = await client.locate('81.2.69.160')
    assert.deepEqual(result, plain)
    assert.match(meta?.requestId ?? '', /^[\da-f-]{36}$/)
  })

  it('answers without a location for an address that nobody knows', async () => {
    const result = await client.locate('10.0.0.1')
    assert.deepEqual(result.query, { type: 'ip', value: '10.0.0.1', ipVersion: 4 })
    assert.equal(result.location, undefined)
    assert.equal(result.meta?.precision, 'none')
  })

  it('answers only the fields that are asked for', async () => {
    const fields = ['location.city', 'network.asn'] as const
    const expected = { location: { city: 'London' }, network: { asn: 'AS20712' } }
    assert.deepEqual(await client.locate('81.2.69.160', { fields }), expected)
    assert.deepEqual(await client.locate('10.0.0.1', { fields }), {})
  })

  it('includes what is asked for', async () => {
    const { network } = await client.locate('81.2.69.160', { include: ['network'] })
    assert.equal(network?.prefix, '81.2.69.0/24')
    const fields = ['network.prefix'] as const
    assert.deepEqual(await client.locate('81.2.69.160', { fields }), {
      network: { prefix: '81.2.69.0/24' },
    })
  })

  it('answers in the language that is asked for', async () => {
    const { location } = await client.locate('81.2.69.160', { lang: 'de' })
    assert.equal(location?.country?.name, 'Vereinigtes Königreich')
  })

  it('includes nothing with an empty list', async () => {
    const plain = newClient({ cache: false })
    const { network } = await plain.locate('81.2.69.160', { include: [] })
    assert.equal(network?.asn, 'AS20712')
    const [item] = await plain.locateMany(['81.2.69.160'], { include: [] })
    assert.ok(item && 'location' in item)
    assert.equal((await plain.summary(['81.2.69.160'], { include: [] })).privacy, undefined)
  })

  it('locates IPv6 addresses', async () => {
    const { query, location } = await client.locate('2A00:1450:4009:0::1')
    assert.equal(query?.value, '2a00:1450:4009::1')
    assert.equal(location?.city, 'London')
  })

  it('refuses texts that are not addresses, without a request', async () => {
    const watched = newWatchedClient()
    for (const text of ['', '.', '..', 'me', 'nowhere', '81.2.69.160/24', '81.2.69.160 ']) {
      await assert.rejects(watched.client.locate(text), { status: 400, code: 'BAD_REQUEST' })
    }
    assert.deepEqual(watched.requests, [])
  })
})

describe('the types', () => {
  it('say which fields may be absent, and which there are', () => {
    // Compiled, not run
    const check = async () => {
      const { location } = await client.locate('81.2.69.160')
      // @ts-expect-error: nobody may know where it is
      location.continent.name
      location?.continent.name
      // @ts-expect-error: the country may be unknown
      location?.country.name
      const selected = await client.locate('81.2.69.160', { fields: ['location.city'] })
      // @ts-expect-error: it was not asked for
      selected.location?.continent.name
      // @ts-expect-error: no result has this field
      await client.locate('81.2.69.160', { fields: ['location.town'] })
      // @ts-expect-error: results of lists have no hostname
      await client.locateMany(['81.2.69.160'], { include: ['hostname'] })
      // @ts-expect-error: one address is not a list
      await client.locateMany('81.2.69.160')
      for (const item of await client.locateMany(['81.2.69.160'])) {
        // @ts-expect-error: it may be an error
        item.location?.city
        if (!('error' in item)) item.location?.city
      }
    }
    assert.ok(check)
  })
})

describe('me', () => {
  it('locates the caller', async () => {
    const { query } = await client.me()
    assert.deepEqual(query, { type: 'ip', value: '127.0.0.1', ipVersion: 4 })
    assert.deepEqual(await client.me({ fields: ['query.value'] }), {
      query: { value: '127.0.0.1' },
    })
  })
})

describe('summary', () => {
  it('counts addresses', async () => {
    const addresses = ['81.2.69.160', '81.2.69.161', '10.0.0.1', 'nowhere']
    const { addresses: counts, countries } = await client.summary(addresses, { top: 1 })
    assert.deepEqual(counts, { total: 4, distinct: 3, invalid: 1 })
    assert.deepEqual(countries, [{ code: 'GB', name: 'United Kingdom', count: 2 }])
  })
})

describe('asn', () => {
  it('describes a system by its number', async () => {
    for (const system of [15169, '15169', 'AS15169', 'as15169', 'ASN15169', 'AS0.15169']) {
      const { asn, organization, prefixes } = await client.asn(system)
      assert.deepEqual([asn, organization], ['AS15169', 'Google LLC'])
      assert.deepEqual(prefixes, [{ prefix: '8.8.8.0/24', country: 'US' }])
    }
  })

  it('reads the pages of its prefixes', async () => {
    const { prefixes, offset, total } = await client.asn(15169, { limit: 1, offset: 1, family: 4 })
    assert.deepEqual([prefixes, offset, total], [[], 1, 1])
  })

  it('refuses other texts, without a request', async () => {
    for (const text of ['', '..', 'AS', 'google', '1.', '1.2.3', -1, 1.5]) {
      await assert.rejects(client.asn(text), { status: 400, code: 'BAD_REQUEST' })
    }
  })
})

describe('usage', () => {
  it('answers the requests of the owner', async () => {
    const { totalKeys, monthlyCap } = await client.usage()
    assert.equal(totalKeys, 2)
    assert.equal(monthlyCap, 1_000_000_000)
  })
})

describe('a client', () => {
  it('takes an address of the service with slashes at the end', async () => {
    const { location } = await newClient({ url: `${URL_OF_SERVICE}//` }).locate('81.2.69.160')
    assert.equal(location?.city, 'London')
  })

  it('cannot be made with an address or a key that cannot be sent', () => {
    for (const url of ['', 'nowhere', '127.0.0.1:8787', 'localhost:8787', 'ftp://geo.example']) {
      assert.throws(() => newClient({ url }), /such as https:\/\/geo\.example\.com/, url)
    }
    assert.throws(() => newClient({ key: '' }), /The key is empty/)
    for (const key of ['', 'two words', 'line\n', 'é']) {
      assert.throws(
        () => newClient({ key }),
        (error) => error instanceof TypeError && (key === '' || !error.message.includes(key)),
      )
    }
  })

  it('does not show its key', () => {
    const shown = new Meridian({ url: URL_OF_SERVICE, key: KEY })
    assert.equal(JSON.stringify(shown), '{}')
    assert.deepEqual(Object.keys(shown), [])
  })
})
