import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { measuredConfidence } from '../../../lib/geo/place/measured-confidence.ts'
import { toPlace } from '../../../lib/geo/place/place.ts'
import { geoFiles } from '../../support/geo-files.ts'
import { makeApp } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { answerTo, LONDON, lookUp, lookUpAll, overCap } from './look-up.ts'

const IPS = [LONDON, '8.8.8.8', '17.0.0.1', '10.0.0.1']

const { city, dbip } = geoFiles()
const app = sharedScene({ env: { MERIDIAN_GEO: `${city},${dbip}` } }, async () => {
  await ada.key()
})
const ada = app.user('ada')

const withConfidence = (ip: string, by = ada) => lookUp(by, `${ip}?include=confidence`)

const confidenceOf = async (ip: string) => (await withConfidence(ip)).result.location?.confidence

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
    const { result } = await withConfidence(LONDON)
    const usual = (await lookUp(ada)).result
    const { confidence, ...location } = result.location ?? assert.fail()
    assert.deepEqual(confidence, confirmed())
    assert.deepEqual(Object.keys(confidence ?? {}), ['country', 'region', 'city'])
    assert.deepEqual(answerTo(usual.meta?.requestId, { ...result, location }), usual)
  })

  it('says nothing of what the answer does not name', async () => {
    const partsOf = async (ip: string) => Object.keys((await confidenceOf(ip)) ?? {})
    assert.deepEqual(await partsOf('8.8.8.8'), ['country', 'region'])
    assert.deepEqual(await partsOf('9.0.0.1'), ['country', 'city'])
    assert.deepEqual(await partsOf('17.0.0.1'), ['country'])
    assert.equal(await confidenceOf('6.0.0.1'), undefined)
    assert.equal((await withConfidence('10.0.0.1')).result.location, undefined)
  })

  it('depends on the agreement of a second provider and on who names the city', async () => {
    const { location } = (await withConfidence('5.0.0.1')).result
    assert.equal(location?.city, 'Berlin')
    const berlin = toPlace({ country: { code: 'DE' }, city: 'Berlin' })
    assert.ok(berlin)
    const { country, city } = measuredConfidence('DBIP-City-Lite', 0.5, berlin) ?? {}
    assert.deepEqual(location?.confidence, { country, city })
  })

  it('can be named among the fields', async () => {
    const { body } = await ada.lookUp(`${LONDON}?fields=location.confidence.city`)
    assert.deepEqual(body, { location: { confidence: { city: confirmed()?.city } } })
  })

  it('is in each result of a batch, also as CSV', async () => {
    const body = { ips: IPS, include: ['confidence'] }
    const found = (await lookUpAll(ada, body)).map(({ location }) => location?.confidence)
    assert.deepEqual(found, await Promise.all(IPS.map(confidenceOf)))
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
    const { result } = await withConfidence(LONDON, await overCap(app))
    assert.deepEqual([result.meta?.degraded, result.location?.confidence], [true, undefined])
  })

  it('adds nothing if no loaded provider was measured, and a header says so', async () => {
    await using other = await makeApp({ env: { MERIDIAN_GEO: geoFiles().ipinfo } })
    const bob = other.user('bob')
    await bob.key()
    const asked = await withConfidence(LONDON, bob)
    assert.equal(asked.result.location?.confidence, undefined)
    assert.equal(asked.notIncluded, 'confidence')
    const fields = await lookUp(bob, `${LONDON}?fields=location.confidence`)
    assert.equal(fields.notIncluded, 'confidence')
    assert.equal((await withConfidence(LONDON)).notIncluded, null)
  })
})
