import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { measuredConfidence } from '../../../lib/geo/place/measured-confidence.ts'
import { toPlace } from '../../../lib/geo/place/place.ts'
import { geoFiles } from '../../support/geo-files.ts'
import { makeApp, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'

const LONDON = '/v1/ip/81.2.69.160'
const IPS = ['81.2.69.160', '8.8.8.8', '17.0.0.1', '10.0.0.1']

let key: string
const app = sharedScene(
  { env: { MERIDIAN_GEO: [geoFiles().city, geoFiles().dbip].join(',') } },
  async () => {
    key = await ada.key()
  },
)
const ada = app.user('ada')

const get = async (path: string, by = key, of = app) => {
  const { body, headers } = await of.send('GET', path, { key: by })
  const result = v.parse(GeolocationResult, body)
  return { result, notIncluded: headers.get('not-included') }
}

const confidenceOf = async (path: string) =>
  (await get(`${path}?include=confidence`)).result.location?.confidence

/** What was measured for answers of MaxMind that a second provider confirms, in London, within 10 km. */
function confirmed() {
  const place = toPlace({
    country: { code: 'GB' },
    region: { code: 'GB-ENG', name: 'England' },
    city: 'London',
    latitude: 51.5,
    longitude: -0.1,
    radiusKm: 10,
  })
  assert.ok(place)
  return measuredConfidence('GeoLite2-City', 1, place)
}

describe('include=confidence', () => {
  it('adds the measured shares of what the answer names, and nothing else', async () => {
    const { result } = await get(`${LONDON}?include=confidence`)
    const usual = (await get(LONDON)).result
    const { confidence, ...location } = result.location ?? assert.fail()
    assert.deepEqual(confidence, confirmed())
    assert.deepEqual(Object.keys(confidence ?? {}), ['country', 'region', 'city'])
    const { requestId = '' } = usual.meta ?? {}
    assert.deepEqual({ ...result, location, meta: { ...result.meta, requestId } }, usual)
  })

  it('says nothing of what the answer does not name', async () => {
    assert.deepEqual(Object.keys((await confidenceOf('/v1/ip/8.8.8.8')) ?? {}), [
      'country',
      'region',
    ])
    assert.deepEqual(Object.keys((await confidenceOf('/v1/ip/9.0.0.1')) ?? {}), ['country', 'city'])
    assert.deepEqual(Object.keys((await confidenceOf('/v1/ip/17.0.0.1')) ?? {}), ['country'])
    assert.equal(await confidenceOf('/v1/ip/6.0.0.1'), undefined)
    assert.equal((await get('/v1/ip/10.0.0.1?include=confidence')).result.location, undefined)
  })

  it('depends on the agreement of a second provider and on who names the city', async () => {
    const germany = await get('/v1/ip/5.0.0.1?include=confidence')
    assert.equal(germany.result.location?.city, 'Berlin')
    const berlin = toPlace({ country: { code: 'DE' }, city: 'Berlin' })
    assert.ok(berlin)
    const { country, city } = measuredConfidence('DBIP-City-Lite', 0.5, berlin) ?? {}
    assert.deepEqual(germany.result.location?.confidence, { country, city })
  })

  it('can be named among the fields', async () => {
    const { body } = await ada.lookUp('81.2.69.160?fields=location.confidence.city')
    const city = confirmed()?.city
    assert.deepEqual(body, { location: { confidence: { city } } })
  })

  it('is in each result of a batch, also as CSV', async () => {
    const body = { ips: IPS, include: ['confidence'] }
    const { body: answer } = await ada.send('POST', '/v1/ip/batch', body)
    const { results } = v.parse(v.object({ results: v.array(GeolocationResult) }), answer)
    assert.deepEqual(
      results.map(({ location }) => location?.confidence),
      await Promise.all(IPS.map((ip) => confidenceOf(`/v1/ip/${ip}`))),
    )
    const headers = { accept: 'text/csv' }
    const { text } = await ada.send('POST', '/v1/ip/batch', body, { headers })
    const [header = '', first = '', second = ''] = text.split('\r\n')
    const columns = 'country_confidence,region_confidence,city_confidence,degraded,error'
    assert.ok(header.endsWith(`,${columns}`), header)
    const london = confirmed()
    assert.ok(first.endsWith(`,${london?.country},${london?.region},${london?.city},false,`), first)
    assert.match(second, /,0\.\d+,0\.\d+,,false,$/)
  })

  it('adds nothing over the cap', async () => {
    const free = await app.makeKey({ plan: 'free', email: 'free@example.com' })
    const caller = app.services.keys.find(free, NOON)
    assert.ok(caller)
    app.services.meters.open({ ...caller, key: caller }, NOON).count(5_000)
    const { result } = await get(`${LONDON}?include=confidence`, free)
    assert.deepEqual([result.meta?.degraded, result.location?.confidence], [true, undefined])
  })

  it('adds nothing if no loaded provider was measured, and a header says so', async () => {
    await using other = await makeApp({ env: { MERIDIAN_GEO: geoFiles().ipinfo } })
    const own = await other.makeKey()
    const asked = await get(`${LONDON}?include=confidence`, own, other)
    assert.equal(asked.result.location?.confidence, undefined)
    assert.equal(asked.notIncluded, 'confidence')
    const fields = await get(`${LONDON}?fields=location.confidence`, own, other)
    assert.equal(fields.notIncluded, 'confidence')
    assert.equal((await get(`${LONDON}?include=confidence`)).notIncluded, null)
  })
})
