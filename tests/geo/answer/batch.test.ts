import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { readColumn } from '../../support/database/sql.ts'
import { codeOf } from '../../support/helpers.ts'
import { plansFile } from '../../support/plans-file.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { overCap } from './look-up.ts'

const BATCH = '/v1/ip/batch'

const app = freshScene({ env: { MERIDIAN_PLANS: plansFile() } }, async () => {
  await ada.key()
})
const ada = app.user('ada')

const post = (body: unknown) => ada.send('POST', BATCH, body)

const Results = v.object({
  results: v.array(v.record(v.string(), v.unknown())),
  meta: v.object({ tier: v.string(), degraded: v.boolean() }),
})

async function batch(ips: readonly string[], fields?: readonly string[]) {
  const answer = await post({ ips, ...(fields !== undefined && { fields }) })
  assert.equal(answer.status, 200)
  return v.parse(Results, answer.body)
}

const many = (count: number) => Array.from({ length: count }, () => '81.2.69.160')

describe('POST /v1/ip/batch', () => {
  it('answers each address like a single look-up, in order', async () => {
    const ips = ['81.2.69.160', '2A02:4780::1', '10.0.0.1', '8.8.8.8', '81.2.69.160']
    const { results, meta } = await batch(ips)
    assert.deepEqual(meta.degraded, false)
    assert.equal(results.length, ips.length)
    for (const [n, ip] of ips.entries()) {
      const { body } = await ada.lookUp(ip)
      const single = v.parse(v.looseObject({ meta: v.record(v.string(), v.unknown()) }), body)
      const { precision, degraded } = single.meta
      assert.deepEqual(results[n], { ...single, meta: { precision, degraded } })
    }
  })

  it('answers an error in place of a text that is not an address', async () => {
    const bad = ['', 'nope', '1.2.3.256', '::1%eth0', '"\\\u2028\u{1f600}', 'x'.repeat(5_000)]
    const { results } = await batch(['81.2.69.160', ...bad, '8.8.8.8'])
    assert.equal(results.length, bad.length + 2)
    assert.ok('location' in (results.at(0) ?? {}) && 'location' in (results.at(-1) ?? {}))
    for (const [n, text] of bad.entries()) {
      assert.deepEqual(results[n + 1], {
        query: { type: 'ip', value: text.length > 100 ? text.slice(0, 100) : text },
        error: { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' },
      })
    }
  })

  it('counts each address, but not texts that are not addresses', async () => {
    await ada.key({ plan: 'fast' })
    await batch([...many(250), 'nope', '10.0.0.1'])
    const { body } = await ada.send('GET', '/v1/account/me/usage')
    const Usage = v.object({ totalRequests: v.number(), dailyUsage: v.array(v.unknown()) })
    const usage = v.parse(Usage, body)
    assert.equal(usage.totalRequests, 251)
    assert.deepEqual(usage.dailyUsage.at(-1), { date: '2026-01-15', requests: 251 })
  })

  it('counts a batch once, even after a batch without addresses', async () => {
    await ada.key({ plan: 'fast' })
    await batch(['nope'])
    await batch(many(3))
    await app.services.ledger.flush()
    const written = await readColumn(app, 'SELECT requests FROM usage_by_period')
    assert.deepEqual(written, [3])
  })

  it('reduces the answers over the cap, and marks them as degraded', async () => {
    await ada.key({ plan: 'tiny' })
    const { results, meta } = await batch(['nope', ...many(14)])
    assert.equal(meta.degraded, true)
    const degraded = results.slice(1).map(({ meta: own }) => Object(own).degraded)
    assert.deepEqual(degraded, [...Array(10).fill(false), ...Array(4).fill(true)])
    const reduced = v.parse(v.object({ location: v.record(v.string(), v.unknown()) }), results[14])
    assert.deepEqual(Object.keys(reduced.location), ['continent', 'country'])
  })

  it('keeps the cap however many batches are answered at once', async () => {
    await ada.key({ plan: 'fast' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => batch(many(1_000))))
    const all = answers.flatMap(({ results }) => results)
    assert.equal(all.filter(({ meta }) => Object(meta).degraded === false).length, 5_000)
  })

  it('counts a hundred addresses as one request of the rate limit', async () => {
    await ada.key({ plan: 'free' })
    const rate = async (count: number) => {
      const answer = await post({ ips: many(count) })
      return [answer.status, /r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]]
    }
    assert.deepEqual(await rate(1), [200, '9'])
    assert.deepEqual(await rate(100), [200, '8'])
    assert.deepEqual(await rate(101), [200, '6'])
    const refused = await post({ ips: many(700) })
    assert.equal(codeOf(refused), 'RATE_LIMITED')
    assert.equal(refused.headers.get('retry-after'), '6')
    assert.deepEqual(await rate(600), [200, '0'])
    const last = await post({ ips: many(1_000) })
    assert.equal(last.headers.get('retry-after'), '6')
    app.pass(60_000)
    assert.deepEqual(await rate(1_000), [200, '0'])
  })

  it('reports when a refused batch can be sent again', async () => {
    await ada.key({ plan: 'free' })
    await post({ ips: many(600) })
    const refused = await post({ ips: many(1_000) })
    assert.equal(refused.headers.get('retry-after'), '36')
    app.pass(36_000)
    assert.equal((await post({ ips: many(1_000) })).status, 200)
  })

  it('returns only the requested fields', async () => {
    const fields = ['query.value', 'location.country.code', 'location.city', 'network']
    const { results } = await batch(['81.2.69.160', '10.0.0.1', 'nope'], fields)
    assert.deepEqual(results.slice(0, 2), [
      {
        query: { value: '81.2.69.160' },
        location: { country: { code: 'GB' }, city: 'London' },
        network: { asn: 'AS20712', organization: 'Andrews & Arnold Ltd', domain: 'aa.net.uk' },
      },
      { query: { value: '10.0.0.1' } },
    ])
    assert.ok('error' in (results[2] ?? {}))
  })

  const bad: [string, unknown][] = [
    ['a missing body', undefined],
    ['a text instead of a list', { ips: '8.8.8.8' }],
    ['an empty list', { ips: [] }],
    ['1,001 addresses', { ips: many(1_001) }],
    ['a number as an address', { ips: [134744072] }],
    ['an empty list of fields', { ips: many(1), fields: [] }],
    ['an unknown field', { ips: many(1), fields: ['location.town'] }],
    ['a field that every object has', { ips: many(1), fields: ['constructor'] }],
  ]
  for (const [name, body] of bad) {
    it(`refuses ${name}`, async () => {
      assert.equal(codeOf(await post(body)), 'BAD_REQUEST')
    })
  }

  it('accepts a body of up to 64 KB', async () => {
    const ips = ['81.2.69.160', 'x'.repeat(65_000)]
    assert.equal((await post({ ips })).status, 200)
    assert.equal((await post({ ips: [...ips, 'x'.repeat(600)] })).status, 413)
  })

  it('is open to pages of an allowed origin', async () => {
    const origin = 'https://app.example'
    await ada.key({ type: 'publishable', origins: [origin] })
    const headers = { origin }
    const preflight = await app.send('OPTIONS', BATCH, { headers })
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST/)
    const answer = await ada.send('POST', BATCH, { ips: many(1) }, { headers })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), origin)
  })
})

describe('GET /v1/ip/batch', () => {
  it('answers 405, although another operation takes other texts in its place', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ada.send(method, BATCH)
      assert.deepEqual([status, headers.get('allow')], [405, 'POST, OPTIONS'])
    }
  })
})

describe('GET /v1/ip/{ipAddress}?fields=', () => {
  const select = (fields: string, address = '81.2.69.160') =>
    ada.lookUp(`${address}?fields=${encodeURIComponent(fields)}`)

  const selections: [string, unknown][] = [
    ['location.city,network.asn', { location: { city: 'London' }, network: { asn: 'AS20712' } }],
    ['location.country,location.country.code', { location: { country: country() } }],
    ['meta.precision', { meta: { precision: 'city' } }],
    ['location.coordinates.latitude', { location: { coordinates: { latitude: 51.5142 } } }],
    ['sources.tz', { sources: { tz: ['maxmind'] } }],
  ]
  for (const [fields, expected] of selections) {
    it(`answers ${fields}`, async () => {
      assert.deepEqual((await select(fields)).body, expected)
    })
  }

  it('answers an empty object if none of the fields is known', async () => {
    const answer = await select('location.city', '10.0.0.1')
    assert.deepEqual([answer.status, answer.body], [404, {}])
  })

  it('keeps degraded when the cap reduces the answer', async () => {
    const free = await overCap(app)
    const answer = await free.lookUp('81.2.69.160?fields=location.city,network')
    assert.deepEqual([answer.status, answer.body], [200, { meta: { degraded: true } }])
    const body = { ips: ['81.2.69.160'], fields: ['location.city'] }
    const inBatch = await free.send('POST', BATCH, body)
    assert.deepEqual(Object(inBatch.body).results, [{ meta: { degraded: true } }])
  })

  it('selects fields of the location of the caller as well', async () => {
    const answer = await ada.lookUp('me?fields=query.value', { from: '81.2.69.160' })
    assert.deepEqual(answer.body, { query: { value: '81.2.69.160' } })
  })

  const refused = ['', ',', 'location.town', 'location.', 'locationXcity', 'location,', '__proto__']
  for (const fields of refused) {
    it(`refuses "${fields}"`, async () => {
      assert.equal(codeOf(await select(fields)), 'BAD_REQUEST')
    })
  }
})

function country() {
  return { code: 'GB', name: 'United Kingdom', flag: '\u{1f1ec}\u{1f1e7}' }
}
