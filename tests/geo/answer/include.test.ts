import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'

let key: string
const app = sharedScene({}, async () => {
  key = await ada.key()
})
const ada = app.user('ada')

const get = (path: string, from?: string) =>
  app.send('GET', path, { key, ...(from !== undefined && { from }) })

const Batch = v.object({ results: v.array(GeolocationResult) })

describe('include=network', () => {
  const prefixes = [
    ['81.2.69.160', '81.2.69.0/24'],
    ['::ffff:81.2.69.160', '::ffff:81.2.69.0/120'],
    ['2002:5102:45a0::1', '2002:5102:4500::/40'],
    ['2001::aefd:ba5f', '2001::aefd:ba00/120'],
    ['2a00:1450:4009::1', '2a00:1450:4009::/48'],
    ['10.0.0.1', '10.0.0.0/8'],
    ['::1', '::/96'],
  ] as const
  for (const [address, prefix] of prefixes) {
    it(`adds the prefix ${prefix} to the answer for ${address}, and nothing else`, async () => {
      const plain = await get(`/v1/ip/${address}`)
      const { status, body } = await get(`/v1/ip/${address}?include=network`)
      assert.equal(status, plain.status)
      const { network, meta, ...rest } = v.parse(GeolocationResult, body)
      const usual = v.parse(GeolocationResult, plain.body)
      assert.deepEqual(network, { ...usual.network, prefix })
      const requestId = meta?.requestId ?? ''
      assert.deepEqual({ ...rest, meta }, without(usual, requestId))
    })
  }

  it('adds it for the caller and in batches', async () => {
    const mine = await get('/v1/ip/me?include=network', '81.2.69.160')
    assert.equal(v.parse(GeolocationResult, mine.body).network?.prefix, '81.2.69.0/24')
    const ips = prefixes.map(([address]) => address)
    const body = { ips, include: ['network'] }
    const { results } = v.parse(Batch, (await ada.send('POST', '/v1/ip/batch', body)).body)
    assert.deepEqual(
      results.map(({ network }) => network?.prefix),
      prefixes.map(([, prefix]) => prefix),
    )
  })

  it('adds it to the fields if they name it', async () => {
    const prefix = { network: { prefix: '81.2.69.0/24' } }
    const named = await get('/v1/ip/81.2.69.160?fields=network.prefix')
    assert.deepEqual(named.body, prefix)
    const { body } = await get('/v1/ip/81.2.69.160?fields=network')
    assert.deepEqual(body, {
      network: { asn: 'AS20712', organization: 'Andrews & Arnold Ltd', domain: 'aa.net.uk' },
    })
    const both = await get('/v1/ip/81.2.69.160?fields=location.city&include=network')
    assert.deepEqual(both.body, { location: { city: 'London' } })
  })

  it('adds nothing over the cap, when answers have no network', async () => {
    const free = await app.makeKey({ plan: 'free', email: 'free@example.com' })
    const caller = app.services.keys.find(free, NOON)
    assert.ok(caller)
    const cap = app.services.plans.free.monthlyCap
    app.services.meters.open({ ...caller, key: caller }, NOON).count(cap)
    const answer = await app.send('GET', '/v1/ip/81.2.69.160?include=network', { key: free })
    const { network, meta } = v.parse(GeolocationResult, answer.body)
    assert.deepEqual([network, meta?.degraded], [undefined, true])
  })

  for (const include of ['', 'net', 'network,', 'network,nope', '__proto__']) {
    it(`refuses "${include}"`, async () => {
      const answer = await get(`/v1/ip/81.2.69.160?include=${include}`)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
    })
  }

  it('refuses anything unknown in a batch', async () => {
    for (const include of [[], ['nope'], 'network']) {
      const body = { ips: ['8.8.8.8'], include }
      assert.equal(codeOf(await ada.send('POST', '/v1/ip/batch', body)), 'BAD_REQUEST')
    }
  })
})

/** The answer without `network`, as if it were the answer to the other request. */
function without({ network, ...answer }: GeolocationResult, requestId: string) {
  return { ...answer, meta: { ...answer.meta, requestId } }
}

describe('a query parameter', () => {
  it('is 400 if it is given twice, since one of the values would be ignored', async () => {
    for (const query of ['fields=query&fields=network', 'include=network&include=network']) {
      const answer = await get(`/v1/ip/81.2.69.160?${query}`)
      assert.equal(codeOf(answer), 'BAD_REQUEST', query)
      assert.match(answer.text, new RegExp(`"${query.split('=', 1)}: must be given once"`))
    }
    assert.equal(codeOf(await get('/v1/asn/20712?limit=1&limit=2')), 'BAD_REQUEST')
  })

  it('is 400 if it is like one of the operation, but misspelt', async () => {
    for (const query of ['feilds=query', 'field=query', 'inclde=network', 'Fields=query']) {
      assert.equal(codeOf(await get(`/v1/ip/81.2.69.160?${query}`)), 'BAD_REQUEST', query)
    }
  })

  it('is ignored if it is like none of the operation', async () => {
    for (const query of ['utm=1&utm=2&fields=query', '__proto__=1', `${'x'.repeat(3_000)}=1`]) {
      assert.equal((await get(`/v1/ip/81.2.69.160?${query}`)).status, 200, query)
    }
    assert.equal((await get('/v1/ip/81.2.69.160/timezone?utm=1&utm=2')).status, 200)
  })
})

describe('the error for an unknown name', () => {
  const message = ({ body }: { readonly body: unknown }) => String(Object(body).error.message)
  const long = 'x'.repeat(1_000)

  const queries = [
    ['fields=location.city,location.town', 'location.town'],
    ['fields=location.city,,query', ''],
    ['fields=location.city, query', ' query'],
    ['include=network,secrecy', 'secrecy'],
  ] as const
  for (const [query, name] of queries) {
    it(`quotes it for ${query}`, async () => {
      const answer = await get(`/v1/ip/81.2.69.160?${query}`)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.ok(message(answer).includes(`"${name}" is not`), message(answer))
    })
  }

  const bodies = [
    [{ fields: ['location.city', 'location.town'] }, 'location.town'],
    [{ include: ['hostname'] }, 'hostname'],
  ] as const
  for (const [options, name] of bodies) {
    it(`quotes it for ${JSON.stringify(options)} in a batch`, async () => {
      const body = { ips: ['81.2.69.160'], ...options }
      const answer = await ada.send('POST', '/v1/ip/batch', body)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.ok(message(answer).includes(`"${name}" `), message(answer))
    })
  }

  it('quotes only the start of a long one', async () => {
    const answer = await get(`/v1/ip/81.2.69.160?fields=${long}`)
    assert.ok(message(answer).includes('"xxx'))
    assert.ok(message(answer).length < 300, message(answer))
  })
})
