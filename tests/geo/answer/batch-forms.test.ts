import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvParse } from 'd3-dsv'
import { plansFile } from '../../support/plans-file.ts'
import { sharedScene } from '../../support/scene/scene.ts'

let key: string
const app = sharedScene({ env: { MERIDIAN_PLANS: plansFile() } }, async () => {
  key = await ada.key()
})
const ada = app.user('ada')

const IPS = ['81.2.69.160', '2A02:4780::1', '10.0.0.1', 'nope', '=1+1', '8.8.8.8']

async function batch(accept: string, body: object = { ips: IPS }, by = key) {
  const answer = await app.send('POST', '/v1/ip/batch', { key: by, headers: { accept }, body })
  assert.equal(answer.status, 200)
  return answer
}

async function results(body: object): Promise<unknown> {
  return Object((await batch('application/json', body)).body).results
}

const linesOf = (text: string) => {
  assert.ok(text.endsWith('\n'))
  return text
    .slice(0, -1)
    .split('\n')
    .map((line): unknown => JSON.parse(line))
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
    const tiny = await app.makeKey({ plan: 'tiny', email: 'tiny@example.com' })
    const ips = Array.from({ length: 12 }, () => '81.2.69.160')
    const rows = csvParse((await batch('text/csv', { ips }, tiny)).text)
    assert.deepEqual(
      rows.slice(-3).map((row) => [row['degraded'], row['country'], row['city']]),
      [
        ['false', 'GB', 'London'],
        ['true', 'GB', ''],
        ['true', 'GB', ''],
      ],
    )
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
