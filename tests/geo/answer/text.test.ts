import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedScene } from '../../support/scene/scene.ts'

let key: string
const app = sharedScene({}, async () => {
  key = await ada.key()
})
const ada = app.user('ada')

const LONDON = '/v1/ip/81.2.69.160'
const get = (path: string, accept?: string, from?: string) =>
  app.send('GET', path, {
    key,
    ...(accept !== undefined && { headers: { accept } }),
    ...(from !== undefined && { from }),
  })

describe('a look-up of fields as text/plain', () => {
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
      const answer = await get(`${LONDON}?fields=${fields}`, 'text/plain')
      assert.deepEqual([answer.status, answer.text], [200, text])
      assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
    })
  }

  it('answers an empty line for a field without a value, with the status of the whole answer', async () => {
    const fields = 'location.postalCode,query.value'
    const found = await get(`/v1/ip/8.8.8.8?fields=${fields}`, 'text/plain')
    assert.deepEqual([found.status, found.text], [200, '\n8.8.8.8\n'])
    const unknown = await get(`/v1/ip/10.0.0.1?fields=${fields}`, 'text/plain')
    assert.deepEqual([unknown.status, unknown.text], [404, '\n10.0.0.1\n'])
  })

  it('answers for the caller as well', async () => {
    const answer = await get('/v1/ip/me?fields=query.value', 'text/plain', '81.2.69.160')
    assert.equal(answer.text, '81.2.69.160\n')
  })

  it('answers errors as JSON', async () => {
    for (const path of ['/v1/ip/nope?fields=query.value', `${LONDON}?fields=nope`]) {
      const { status, headers } = await get(path, 'text/plain')
      assert.deepEqual([status, headers.get('content-type')], [400, 'application/json'])
    }
  })

  const usual = [
    undefined,
    '*/*',
    'application/json, text/plain, */*',
    'text/csv',
    'text/plain;q=0',
  ]
  for (const accept of usual) {
    it(`is JSON for Accept: ${accept}`, async () => {
      const { body } = await get(`${LONDON}?fields=location.city`, accept)
      assert.deepEqual(body, { location: { city: 'London' } })
    })
  }

  it('is JSON without fields', async () => {
    const [plain, usually] = [await get(LONDON, 'text/plain'), await get(LONDON)]
    const withoutId = (text: string) => text.replace(/"requestId":"[^"]*"/, '')
    assert.equal(withoutId(plain.text), withoutId(usually.text))
  })
})
