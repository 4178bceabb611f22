import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { answerTo, LONDON, lookUp, lookUpAll, overCap } from './look-up.ts'

const app = sharedScene({}, async () => {
  await ada.key()
})
const ada = app.user('ada')

const bodyOf = async (query: string) => (await ada.lookUp(`${LONDON}?${query}`)).body

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
      const plain = await lookUp(ada, address)
      const { status, result } = await lookUp(ada, `${address}?include=network`)
      assert.equal(status, plain.status)
      const { network, ...rest } = result
      const { network: usually, ...usual } = plain.result
      assert.deepEqual(network, { ...usually, prefix })
      assert.deepEqual(rest, answerTo(result.meta?.requestId, usual))
    })
  }

  it('adds it for the caller and in batches', async () => {
    const mine = await lookUp(ada, 'me?include=network', { from: LONDON })
    assert.equal(mine.result.network?.prefix, '81.2.69.0/24')
    const [ips, expected] = [0, 1].map((column) => prefixes.map((row) => row[column]))
    const results = await lookUpAll(ada, { ips, include: ['network'] })
    const found = results.map(({ network }) => network?.prefix)
    assert.deepEqual(found, expected)
  })

  it('adds it to the fields if they name it', async () => {
    const prefix = { network: { prefix: '81.2.69.0/24' } }
    assert.deepEqual(await bodyOf('fields=network.prefix'), prefix)
    assert.deepEqual(await bodyOf('fields=network'), {
      network: { asn: 'AS20712', organization: 'Andrews & Arnold Ltd', domain: 'aa.net.uk' },
    })
    const city = { location: { city: 'London' } }
    assert.deepEqual(await bodyOf('fields=location.city&include=network'), city)
  })

  it('adds nothing over the cap, when answers have no network', async () => {
    const { result } = await lookUp(await overCap(app), `${LONDON}?include=network`)
    assert.deepEqual([result.network, result.meta?.degraded], [undefined, true])
  })

  for (const include of ['', 'net', 'network,', 'network,nope', '__proto__']) {
    it(`refuses "${include}"`, async () => {
      assert.equal(codeOf(await ada.lookUp(`${LONDON}?include=${include}`)), 'BAD_REQUEST')
    })
  }

  it('refuses anything unknown in a batch', async () => {
    for (const include of [[], ['nope'], 'network']) {
      const body = { ips: ['8.8.8.8'], include }
      assert.equal(codeOf(await ada.send('POST', '/v1/ip/batch', body)), 'BAD_REQUEST')
    }
  })
})

describe('a query parameter', () => {
  it('is 400 if it is given twice, since one of the values would be ignored', async () => {
    for (const query of ['fields=query&fields=network', 'include=network&include=network']) {
      const answer = await ada.lookUp(`${LONDON}?${query}`)
      assert.equal(codeOf(answer), 'BAD_REQUEST', query)
      assert.match(answer.text, new RegExp(`"${query.split('=', 1)}: must be given once"`))
    }
    assert.equal(codeOf(await ada.send('GET', '/v1/asn/20712?limit=1&limit=2')), 'BAD_REQUEST')
  })

  it('is 400 if it is like one of the operation, but misspelt', async () => {
    for (const query of ['feilds=query', 'field=query', 'inclde=network', 'Fields=query']) {
      assert.equal(codeOf(await ada.lookUp(`${LONDON}?${query}`)), 'BAD_REQUEST', query)
    }
  })

  it('is ignored if it is like none of the operation', async () => {
    for (const query of ['utm=1&utm=2&fields=query', '__proto__=1', `${'x'.repeat(3_000)}=1`]) {
      assert.equal((await ada.lookUp(`${LONDON}?${query}`)).status, 200, query)
    }
    assert.equal((await ada.lookUp(`${LONDON}/timezone?utm=1&utm=2`)).status, 200)
  })
})

describe('the error for an unknown name', () => {
  const message = ({ body }: { readonly body: unknown }) => String(Object(body).error.message)

  const queries = [
    ['fields=location.city,location.town', 'location.town'],
    ['fields=location.city,,query', ''],
    ['fields=location.city, query', ' query'],
    ['include=network,secrecy', 'secrecy'],
  ] as const
  for (const [query, name] of queries) {
    it(`quotes it for ${query}`, async () => {
      const answer = await ada.lookUp(`${LONDON}?${query}`)
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
      const body = { ips: [LONDON], ...options }
      const answer = await ada.send('POST', '/v1/ip/batch', body)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.ok(message(answer).includes(`"${name}" `), message(answer))
    })
  }

  it('quotes only the start of a long one', async () => {
    const answer = await ada.lookUp(`${LONDON}?fields=${'x'.repeat(1_000)}`)
    assert.ok(message(answer).includes('"xxx'))
    assert.ok(message(answer).length < 300, message(answer))
  })
})

describe('lang', () => {
  it('replaces the names that a database has in the language, and nothing else', async () => {
    const usual = (await lookUp(ada)).result
    const german = (await lookUp(ada, `${LONDON}?lang=de`)).result
    const { location } = usual
    assert.ok(location?.country)
    const country = { ...location.country, name: 'Vereinigtes Königreich' }
    const expected = { ...usual, location: { ...location, country } }
    assert.deepEqual(german, answerTo(german.meta?.requestId, expected))
  })

  it('is English by default', async () => {
    const usual = (await lookUp(ada)).result
    const english = (await lookUp(ada, `${LONDON}?lang=en`)).result
    assert.deepEqual({ ...english, meta: usual.meta }, usual)
  })

  it('also applies to fields, and to batches', async () => {
    const city = { location: { city: 'ロンドン' } }
    assert.deepEqual(await bodyOf('lang=ja&fields=location.city'), city)
    const body = { ips: [LONDON, '9.0.0.1'], lang: 'de', fields: ['location.country.name'] }
    const answer = await ada.send('POST', '/v1/ip/batch', body)
    assert.deepEqual(Object(answer.body).results, [
      { location: { country: { name: 'Vereinigtes Königreich' } } },
      { location: { country: { name: 'Österreich' } } },
    ])
  })

  it('applies to an answer that the cap reduces', async () => {
    const { location, meta } = (await lookUp(await overCap(app), `${LONDON}?lang=de`)).result
    assert.deepEqual([location?.country?.name, meta?.degraded], ['Vereinigtes Königreich', true])
  })

  for (const lang of ['', 'xx', 'de,fr', 'de_DE.UTF-8']) {
    it(`refuses "${lang}"`, async () => {
      assert.equal(codeOf(await ada.lookUp(`${LONDON}?lang=${lang}`)), 'BAD_REQUEST')
    })
  }
})
