import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvParse } from 'd3-dsv'
import fc from 'fast-check'
import { TextPieces } from '../../../lib/geo/answer/batch-forms.ts'
import { plansFile } from '../../support/plans-file.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { LONDON } from './look-up.ts'

const app = sharedScene({ env: { MERIDIAN_PLANS: plansFile() } }, async () => {
  await ada.key()
})
const ada = app.user('ada')

const IPS = [LONDON, '2A02:4780::1', '10.0.0.1', 'nope', '=1+1', '8.8.8.8']

async function batch(accept: string, body: object = { ips: IPS }, by = ada) {
  const answer = await by.send('POST', '/v1/ip/batch', body, { headers: { accept } })
  assert.equal(answer.status, 200)
  return answer
}

async function results(body: object): Promise<unknown> {
  return Object((await batch('application/json', body)).body).results
}

const linesOf = (text: string) => {
  assert.ok(text.endsWith('\n'))
  const lines = text.slice(0, -1).split('\n')
  return lines.map((line): unknown => JSON.parse(line))
}

describe('a batch as application/x-ndjson', () => {
  const bodies = {
    'whole results': { ips: IPS },
    'some fields': { ips: IPS, fields: ['query.value', 'location.city'] },
    'a prefix': { ips: IPS, include: ['network'] },
  }
  for (const [name, body] of Object.entries(bodies)) {
    it(`has the results of the JSON answer, one in each line: ${name}`, async () => {
      const { text, headers } = await batch('application/x-ndjson', body)
      assert.equal(headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
      assert.deepEqual(linesOf(text), await results(body))
    })
  }
})

describe('a batch as text/csv', () => {
  it('has a header and a row for each address, with the names of npm run locate', async () => {
    const { text, headers } = await batch('text/csv')
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.deepEqual(text.split('\r\n').at(-1), '')
    const rows = csvParse(text)
    assert.equal(rows.length, IPS.length)
    const [london, plain, , nope, formula] = rows
    assert.partialDeepStrictEqual(london, {
      ip: '81.2.69.160',
      version: '4',
      precision: 'city',
      country: 'GB',
      region: 'GB-ENG',
      city: 'London',
      longitude: '-0.0931',
      utc_offset: '+00:00',
      organization: 'Andrews & Arnold Ltd',
      degraded: 'false',
      error: '',
    })
    assert.equal(plain?.['ip'], '2a02:4780::1')
    assert.deepEqual([nope?.['ip'], nope?.['error']], ['nope', 'Not an IPv4 or IPv6 address'])
    assert.equal(formula?.['ip'], "'=1+1")
  })

  it('has the requested fields as columns', async () => {
    const fields = ['location.city', 'network.prefix', 'sources.geo']
    const { text } = await batch('text/csv', { ips: IPS.slice(0, 1), fields })
    const header = 'ip,location.city,network.prefix,sources.geo,degraded,error\r\n'
    const row = '81.2.69.160,London,81.2.69.0/24,"[""maxmind"",""dbip""]",,\r\n'
    assert.equal(text, header + row)
  })

  it('has a column for an included prefix', async () => {
    const { text } = await batch('text/csv', { ips: IPS.slice(0, 1), include: ['network'] })
    assert.equal(csvParse(text)[0]?.['prefix'], '81.2.69.0/24')
  })

  it('marks rows that the cap reduces', async () => {
    const tiny = app.user('tiny')
    await tiny.key({ plan: 'tiny' })
    const ips = Array.from({ length: 12 }, () => LONDON)
    const rows = csvParse((await batch('text/csv', { ips }, tiny)).text).slice(-3)
    const cells = rows.map((row) => `${row['degraded']} ${row['country']} ${row['city']}`)
    assert.deepEqual(cells, ['false GB London', 'true GB ', 'true GB '])
  })
})

describe('the form of a batch', () => {
  for (const accept of ['*/*', 'image/png', 'text/csv;q=0.5, application/json', 'text/plain']) {
    it(`is JSON for Accept: ${accept}`, async () => {
      const { headers } = await batch(accept)
      assert.equal(headers.get('content-type'), 'application/json')
    })
  }

  it('is JSON for errors', async () => {
    const headers = { accept: 'text/csv' }
    const answer = await ada.send('POST', '/v1/ip/batch', { ips: [] }, { headers })
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [400, 'application/json'])
  })
})

describe('a look-up of fields as text/plain', () => {
  const asText = (path: string) =>
    ada.lookUp(path, { headers: { accept: 'text/plain' }, from: LONDON })

  const texts = [
    ['location.country.code', 'GB\n'],
    ['location.city,network.asn,network.prefix', 'London\nAS20712\n81.2.69.0/24\n'],
    ['location.coordinates.latitude', '51.5142\n'],
    ['meta.degraded', 'false\n'],
    ['location.country.flag', '\u{1f1ec}\u{1f1e7}\n'],
    ['sources.geo,location.region', '["maxmind","dbip"]\n{"code":"GB-ENG","name":"England"}\n'],
  ] as const
  for (const [fields, text] of texts) {
    it(`answers ${fields} line by line`, async () => {
      const answer = await asText(`${LONDON}?fields=${fields}`)
      assert.deepEqual([answer.status, answer.text], [200, text])
      assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
    })
  }

  it('answers an empty line for a field without a value, with the status of the whole answer', async () => {
    const fields = 'location.postalCode,query.value'
    const found = await asText(`8.8.8.8?fields=${fields}`)
    assert.deepEqual([found.status, found.text], [200, '\n8.8.8.8\n'])
    const unknown = await asText(`10.0.0.1?fields=${fields}`)
    assert.deepEqual([unknown.status, unknown.text], [404, '\n10.0.0.1\n'])
  })

  it('answers for the caller as well', async () => {
    const answer = await asText('me?fields=query.value')
    assert.equal(answer.text, '81.2.69.160\n')
  })

  it('answers errors as JSON', async () => {
    for (const path of ['nope?fields=query.value', `${LONDON}?fields=nope`]) {
      const { status, headers } = await asText(path)
      assert.deepEqual([status, headers.get('content-type')], [400, 'application/json'])
    }
  })

  const others = ['*/*', 'application/json, text/plain, */*', 'text/csv', 'text/plain;q=0']
  for (const accept of [undefined, ...others]) {
    it(`is JSON for Accept: ${accept}`, async () => {
      const headers = accept === undefined ? {} : { accept }
      const { body } = await ada.lookUp(`${LONDON}?fields=location.city`, { headers })
      assert.deepEqual(body, { location: { city: 'London' } })
    })
  }

  it('is JSON without fields', async () => {
    const [plain, usually] = [await asText(LONDON), await ada.lookUp(LONDON)]
    const withoutId = (text: string) => text.replace(/"requestId":"[^"]*"/, '')
    assert.equal(withoutId(plain.text), withoutId(usually.text))
  })
})

const Texts = fc.array(fc.string({ unit: anyCharacter, maxLength: 8 }), { maxLength: 200 })

describe('text pieces', () => {
  it('hold all texts with what separates them, and the end', () => {
    fc.assert(
      fc.property(Texts, fc.string(), fc.string(), (texts, between, end) => {
        const pieces = new TextPieces(between)
        for (const text of texts) pieces.add(text)
        const bytes = Buffer.concat(pieces.end(end))
        assert.equal(bytes.toString(), Buffer.from(texts.join(between) + end).toString())
      }),
    )
  })

  it('are many for many texts', () => {
    const pieces = new TextPieces(',')
    for (let n = 0; n < 1_000; n++) pieces.add(`${n}`)
    assert.equal(pieces.end('').length, 20)
  })
})
