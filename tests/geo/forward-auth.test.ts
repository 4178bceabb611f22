import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VISITOR_HEADERS } from '../../lib/contract/geo/forward-auth.ts'
import { codeOf } from '../support/helpers.ts'
import { plansFile } from '../support/plans-file.ts'
import { sharedScene } from '../support/scene/scene.ts'

const PROXY = '127.0.0.1'
const LONDON = '81.2.69.160'
/** A continent only, so without a country. */
const SOMEWHERE = '6.0.0.1'

const env = { MERIDIAN_TRUSTED_PROXIES: PROXY, MERIDIAN_PLANS: plansFile() }
const app = sharedScene({ env }, async () => {
  await ada.key()
})
const ada = app.user('ada')

/** What a trusted proxy is answered about a visitor. */
const ask = (visitor: string, query = '') =>
  ada.send('GET', `/v1/forward-auth${query}`, undefined, {
    from: PROXY,
    headers: { 'x-forwarded-for': visitor },
  })

const headersOf = ({ headers }: Awaited<ReturnType<typeof ask>>) =>
  Object.fromEntries(
    Object.keys(VISITOR_HEADERS).flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )

describe('GET /v1/forward-auth', () => {
  it('names the place of the visitor in headers, without a body', async () => {
    const answer = await ask(LONDON)
    assert.deepEqual([answer.status, answer.text], [204, ''])
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.deepEqual(headersOf(answer), {
      'X-Geo-Country': 'GB',
      'X-Geo-Region': 'GB-ENG',
      'X-Geo-City': 'London',
      'X-Geo-ASN': 'AS20712',
      'X-Geo-Timezone': 'Europe/London',
    })
  })

  it('leaves out what is unknown, and encodes the name of the city', async () => {
    assert.deepEqual(headersOf(await ask('17.0.0.1')), { 'X-Geo-Country': 'US' })
    assert.deepEqual(headersOf(await ask('12.0.0.1')), { 'X-Geo-ASN': 'AS7018' })
    assert.deepEqual(headersOf(await ask('10.0.0.1')), {})
    const { 'X-Geo-City': city } = headersOf(await ask('16.0.0.1'))
    assert.equal(city, 'S%C3%A3o%20%22Paulo%22%20%F0%9F%8C%86')
  })

  const decisions = [
    [LONDON, '?allow=GB', 204],
    [LONDON, '?allow=de,gb', 204],
    [LONDON, '?allow=UK', 204], // as European institutions write it
    [LONDON, '?allow=DE', 403],
    [LONDON, '?deny=GB', 403],
    [LONDON, '?deny=DE,US', 204],
    [LONDON, '?deny=uk', 403],
    [LONDON, '?allow=GB&deny=GB', 403],
    [LONDON, '?allow=GB&deny=DE', 204],
    [LONDON, '?allow=DE%2CGB', 204],
    ['2a00:1450:4009::1', '?deny=GB', 403],
    [`::ffff:${LONDON}`, '?deny=GB', 403],
    [SOMEWHERE, '?allow=GB', 403],
    [SOMEWHERE, '?deny=GB', 204],
    ['13.0.0.1', '?allow=GB', 403],
    // Private and reserved networks, and what has such an address inside
    ...['127.0.0.2', '10.1.2.3', '172.17.0.1', '192.168.1.1', '100.64.0.1', '169.254.1.1'].map(
      (address) => [address, '?allow=GB', 204] as const,
    ),
    ...['::1', 'fd00::1', 'fe80::1', '2002:a00:1::1', '2001:db8::1'].map(
      (address) => [address, '?allow=GB&deny=GB', 204] as const,
    ),
  ] as const
  for (const [visitor, query, status] of decisions) {
    it(`answers ${status} for ${visitor} with ${query}`, async () => {
      const answer = await ask(visitor, query)
      assert.equal(answer.status, status)
      if (status === 403) assert.equal(codeOf(answer), 'FORBIDDEN')
    })
  }

  it('refuses lists that would recognise nobody, and misspelt ones', async () => {
    const bad = ['allow=', 'allow=GBR', 'deny=XX', 'deny=EU', 'deny=GB,', 'deny=GB;DE', 'alow=GB']
    for (const query of [...bad, 'country=GB', 'deny=GB&deny=DE', 'allow=United+Kingdom']) {
      const answer = await ask(LONDON, `?${query}`)
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'BAD_REQUEST'], query)
    }
  })

  it('believes the header of trusted proxies only', async () => {
    const headers = { 'x-forwarded-for': LONDON }
    const answer = await ada.send('GET', '/v1/forward-auth', undefined, {
      from: '17.0.0.1',
      headers,
    })
    assert.deepEqual([answer.status, headersOf(answer)], [204, { 'X-Geo-Country': 'US' }])
  })

  for (const [named, from] of [
    ...[
      undefined,
      '',
      ' , ',
      'unknown',
      '_hidden',
      '8.8.8.8,unknown',
      '8.8.8.8%1',
      '134744072',
    ].map((named) => [named, PROXY] as const),
    [PROXY, PROXY],
    ['unknown, 127.0.0.1', PROXY],
    [LONDON, '172.17.0.1'], // a proxy that is not trusted
  ] as const) {
    it(`does not decide about ${from} that names ${JSON.stringify(named)}`, async () => {
      const headers = named === undefined ? {} : { 'x-forwarded-for': named }
      const decide = (query: string) =>
        ada.send('GET', `/v1/forward-auth${query}`, undefined, { from, headers })
      for (const query of ['?allow=DE', '?deny=US']) {
        const { status, text } = await decide(query)
        assert.equal(status, 400)
        assert.match(text, /"The proxy does not name its visitor"/)
      }
      assert.equal((await decide('')).status, 204)
    })
  }

  it('needs a key with geo:read', async () => {
    const bare = await app.send('GET', '/v1/forward-auth')
    assert.equal(bare.status, 401)
    const key = await app.makeKey({ email: 'ada@example.com', scopes: ['account:read'] })
    const answer = await app.send('GET', '/v1/forward-auth', { key })
    assert.equal(codeOf(answer), 'INSUFFICIENT_SCOPE')
  })
})

const HEADER = 'fly-client-ip'
const fly = sharedScene({ env: { ...env, MERIDIAN_CLIENT_HEADER: HEADER } }, async () => {
  await eve.key()
})
const eve = fly.user('eve')

describe('GET /v1/forward-auth and MERIDIAN_CLIENT_HEADER', () => {
  for (const [headers, status] of [
    [{ [HEADER]: LONDON }, 204],
    [{}, 400],
    [{ 'x-forwarded-for': LONDON }, 400],
    // As node:http joins a header that came twice
    [{ [HEADER]: `${LONDON}, ${LONDON}` }, 400],
  ] as const) {
    it(`answers ${status} to ${JSON.stringify(headers)}`, async () => {
      const options = { from: PROXY, headers }
      const answer = await eve.send('GET', '/v1/forward-auth?allow=GB', undefined, options)
      assert.equal(answer.status, status)
    })
  }
})

describe('GET /v1/forward-auth and the plan', () => {
  it('counts decisions, not faults; over the cap it knows the country alone', async () => {
    const bob = app.user('bob')
    await bob.key({ plan: 'tiny' })
    const visitor = { from: PROXY, headers: { 'x-forwarded-for': LONDON } }
    const decide = (query = '') => bob.send('GET', `/v1/forward-auth${query}`, undefined, visitor)
    const { headers } = await decide()
    assert.match(headers.get('ratelimit') ?? '', /^"per-key";r=\d+;/)
    for (let n = 0; n < 4; n++) assert.equal((await decide('?deny=XX')).status, 400)
    for (let n = 0; n < 8; n++) assert.equal((await decide('?deny=GB')).status, 403)
    assert.equal(headersOf(await decide())['X-Geo-City'], 'London')
    assert.deepEqual(headersOf(await decide()), { 'X-Geo-Country': 'GB' })
    assert.equal((await decide('?allow=DE')).status, 403)
  })
})
