import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KEY, newClient, newWatchedClient, URL_OF_SERVICE } from './parts/service.ts'
import { startStub } from './parts/stub-server.ts'

/** London, a place that nobody knows and a text that is not an address, in turn. */
const ADDRESSES = Array.from({ length: 2_500 }, (_, n) => {
  const end = `${n >> 8}.${n & 255}`
  return [`81.2.69.${n & 255}`, `10.0.${end}`, `nowhere ${n}`, `192.168.${end}`][n % 4] ?? ''
})

describe('locateMany', () => {
  it('answers any number of addresses in their order, with errors in their places', async () => {
    const results = await newClient().locateMany(ADDRESSES)
    assert.equal(results.length, ADDRESSES.length)
    for (const [at, result] of results.entries()) {
      const text = ADDRESSES[at] ?? ''
      assert.equal(result.query?.value, text)
      if (text.startsWith('nowhere')) assert.ok('error' in result && result.error.code)
      else assert.equal('location' in result, text.startsWith('81.'), text)
    }
  })

  it('sends batches of at most 1,000, and each address once', async () => {
    const { client, requests } = newWatchedClient({ cache: false })
    const addresses = Array.from({ length: 2_500 }, (_, n) => `10.1.${n >> 8}.${n & 255}`)
    const results = await client.locateMany([...addresses, ...addresses])
    const sizes = requests.map(({ body }) => JSON.parse(body).ips.length)
    assert.deepEqual(sizes, [1_000, 1_000, 500])
    assert.deepEqual(
      results.map((result) => result.query?.value),
      [...addresses, ...addresses],
    )
    assert.notEqual(results[0], results[2_500])
  })

  it('has as many batches under way as allowed', async () => {
    let open = 0
    let most = 0
    const counting: typeof fetch = async (input, init) => {
      open += 1
      most = Math.max(most, open)
      const response = await fetch(input, init)
      open -= 1
      return response
    }
    const client = newClient({ cache: false, concurrency: 3, fetch: counting })
    await client.locateMany(Array.from({ length: 5_000 }, (_, n) => `10.2.${n >> 8}.${n & 255}`))
    assert.equal(most, 3)
  })

  it('answers for a text that is not an address as the service does', async () => {
    const texts = ['nowhere', '', ' 81.2.69.160', 'x'.repeat(200)]
    const response = await fetch(`${URL_OF_SERVICE}/v1/ip/batch`, {
      method: 'POST',
      headers: { 'X-API-Key': KEY, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ips: texts }),
    })
    const { results } = await response.json()
    assert.deepEqual(await newClient().locateMany(texts), results)
  })

  it('answers an empty list without a request', async () => {
    const { client, requests } = newWatchedClient()
    assert.deepEqual(await client.locateMany([]), [])
    assert.deepEqual(requests, [])
  })

  it('passes fields, include and lang on', async () => {
    const [result] = await newClient().locateMany(['81.2.69.160'], {
      fields: ['location.country.name'],
      lang: 'de',
    })
    assert.deepEqual(result, { location: { country: { name: 'Vereinigtes Königreich' } } })
    const [located] = await newClient().locateMany(['81.2.69.160'], { include: ['network'] })
    assert.equal(located && 'network' in located && located.network?.prefix, '81.2.69.0/24')
  })

  it('fails as a whole if a batch does, and sends no more', async () => {
    await using stub = await startStub({ status: 500, body: 'broken' })
    const client = newClient({ url: stub.url, concurrency: 1 })
    const addresses = Array.from({ length: 3_000 }, (_, n) => `10.3.${n >> 8}.${n & 255}`)
    await assert.rejects(client.locateMany(addresses), { status: 500 })
    assert.equal(stub.targets.length, 1)
  })
})
