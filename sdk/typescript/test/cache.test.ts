import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '../src/address.ts'
import { BlockCache } from '../src/block-cache.ts'
import type { GeolocationResult } from '../src/index.ts'
import { newClient, newWatchedClient } from './parts/service.ts'
import { startStub } from './parts/stub-server.ts'

const targets = (requests: readonly { readonly target: string }[]) =>
  requests.map(({ target }) => target)

/** The result without what differs from answer to answer. */
function withoutId({ meta, ...result }: GeolocationResult): GeolocationResult {
  return { ...result, meta: { ...meta, requestId: '' } }
}

describe('the cache', () => {
  it('answers for neighbours in the same block, as the service would', async () => {
    const { client, requests } = newWatchedClient()
    const first = await client.locate('81.2.69.160')
    const second = await client.locate('81.2.69.7')
    assert.deepEqual(targets(requests), ['/v1/ip/81.2.69.160?include=network'])
    const plain = newClient({ cache: false })
    assert.deepEqual(withoutId(first), withoutId(await plain.locate('81.2.69.160')))
    assert.deepEqual(withoutId(second), withoutId(await plain.locate('81.2.69.7')))
    await client.locate('8.8.8.8')
    assert.equal(requests.length, 2)
  })

  it('knows blocks of IPv6, and addresses that nobody knows', async () => {
    const { client, requests } = newWatchedClient()
    await client.locate('2a00:1450:4009::1')
    const { query, location } = await client.locate('2A00:1450:4009:0:0::2')
    assert.deepEqual([query?.value, location?.city], ['2a00:1450:4009::2', 'London'])
    await client.locate('10.0.0.1')
    assert.equal((await client.locate('10.0.0.2')).location, undefined)
    assert.equal(requests.length, 2)
  })

  it('shows the block only to callers who ask for it', async () => {
    const { client, requests } = newWatchedClient()
    for (const include of [['network'], ['network'], undefined, undefined] as const) {
      const { network } = await client.locate('81.2.69.160', { include })
      assert.equal(network?.prefix, include && '81.2.69.0/24')
    }
    assert.equal('network' in (await client.locate('5.0.0.1')), false)
    assert.equal(requests.length, 2)
  })

  it('keeps selected fields apart from whole results', async () => {
    const { client, requests } = newWatchedClient()
    const fields = ['query.value', 'location.city'] as const
    const locate = (address: string) => client.locate(address, { fields })
    const located = (value: string) => ({ query: { value }, location: { city: 'London' } })
    assert.deepEqual(await locate('81.2.69.1'), located('81.2.69.1'))
    assert.deepEqual(await locate('81.2.69.2'), located('81.2.69.2'))
    assert.equal(requests.length, 1)
    await client.locate('81.2.69.1')
    await client.locate('81.2.69.1', { lang: 'de' })
    assert.equal(requests.length, 3)
  })

  it('is shared by look-ups and lists', async () => {
    const { client, requests } = newWatchedClient()
    await client.locate('81.2.69.1')
    await client.locateMany(['81.2.69.2', '8.8.8.1', 'nowhere'])
    await client.locate('8.8.8.2')
    assert.equal(requests.length, 2)
    assert.deepEqual(JSON.parse(requests[1]?.body ?? ''), {
      ips: ['8.8.8.1'],
      include: ['network'],
    })
  })

  it('spares later batches of a list what earlier ones have found', async () => {
    const { client, requests } = newWatchedClient({ concurrency: 1 })
    const addresses = Array.from({ length: 2_500 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
    assert.equal((await client.locateMany(addresses)).length, 2_500)
    assert.equal(requests.length, 1)
  })

  it('gives each caller a result of its own', async () => {
    const client = newClient()
    const first = await client.locate('81.2.69.160')
    if (first.location) first.location.city = 'Changed'
    const [second, third] = await client.locateMany(['81.2.69.160', '81.2.69.160'])
    assert.ok(second && third && 'location' in second && 'location' in third)
    assert.equal(second.location?.city, 'London')
    assert.notEqual(second, third)
  })

  it('keeps no hostnames, and nothing that is reduced over the cap', async () => {
    const { client, requests } = newWatchedClient()
    await client.locate('81.2.69.160', { include: ['hostname'] })
    await client.locate('81.2.69.160', { include: ['hostname'] })
    assert.deepEqual(targets(requests), Array(2).fill('/v1/ip/81.2.69.160?include=hostname'))
    const body = { location: {}, network: { prefix: '8.0.0.0/8' }, meta: { degraded: true } }
    await using stub = await startStub({ status: 200, body })
    const capped = newClient({ url: stub.url })
    await capped.locate('8.8.8.8')
    await capped.locate('8.8.8.8')
    assert.equal(stub.targets.length, 2)
  })

  it('keeps an answer for its address alone if its block does not contain that', async () => {
    for (const network of [{}, { prefix: '9.0.0.0/8' }, { prefix: 'nonsense' }]) {
      await using stub = await startStub({ status: 200, body: { network } })
      const client = newClient({ url: stub.url })
      await client.locate('8.8.8.8')
      await client.locate('8.8.8.8')
      assert.equal(stub.targets.length, 1)
      await client.locate('8.8.8.9')
      await client.locate('9.9.9.9')
      assert.equal(stub.targets.length, 3)
    }
  })

  it('can be turned off', async () => {
    const { client, requests } = newWatchedClient({ cache: false })
    await client.locate('81.2.69.160')
    await client.locate('81.2.69.160')
    assert.deepEqual(targets(requests), Array(2).fill('/v1/ip/81.2.69.160'))
  })
})

describe('BlockCache', () => {
  const [a, b, c] = ['1.1.1.1', '2.2.2.2', '3.3.3.3'].map((text) => {
    const address = parseAddress(text)
    assert.ok(address)
    return address
  })
  assert.ok(a && b && c)

  it('drops what was used least recently', () => {
    const cache = new BlockCache<string>({ entries: 2, ttlMs: 1_000 })
    cache.keep(a, '', 'a', 0)
    cache.keep(b, '', 'b', 0)
    assert.equal(cache.find(a, '', 0), 'a')
    cache.keep(c, '', 'c', 0)
    const found = [a, b, c].map((address) => cache.find(address, '', 0))
    assert.deepEqual(found, ['a', undefined, 'c'])
  })

  it('drops what is too old', () => {
    const cache = new BlockCache<string>({ entries: 2, ttlMs: 1_000 })
    cache.keep(a, '', 'a', 0)
    assert.equal(cache.find(a, '', 999), 'a')
    assert.equal(cache.find(a, '', 1_000), undefined)
  })

  it('keeps nothing with room for nothing', () => {
    const cache = new BlockCache<string>({ entries: 0, ttlMs: 1_000 })
    cache.keep(a, '', 'a', 0)
    assert.equal(cache.find(a, '', 0), undefined)
  })
})
