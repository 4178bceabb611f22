import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utcOffset } from '../../../lib/geo/answer/timezones.ts'
import { splitCityName } from '../../../lib/geo/place/city-name.ts'
import { timezoneAt } from '../../../lib/geo/place/timezone-at.ts'

describe('splitCityName', () => {
  const split = [
    ['Amsterdam (Centrum)', 'Amsterdam', 'Centrum'],
    ['Seongnam-si (Buljeong-ro)', 'Seongnam-si', 'Buljeong-ro'],
    ['Zurich (Zurich (Kreis 11) / Oerlikon)', 'Zurich', 'Zurich (Kreis 11) / Oerlikon'],
    ['Frankfurt (Oder) (Kliestow)', 'Frankfurt (Oder)', 'Kliestow'],
    ['Paris (13th Arrondissement)', 'Paris', '13th Arrondissement'],
    ['Ota-ku (1 Chome)', 'Ota-ku', '1 Chome'],
    ['Wien (Österreich)', 'Wien', 'Österreich'],
  ] as const
  for (const [name, city, district] of split) {
    it(`finds the district in ${name}`, () =>
      assert.deepEqual(splitCityName(name), { city, district }))
  }

  const whole = [
    ...['London', 'Frankfurt (Oder)', 'Kempten (Allgäu)', 'Gronau (Westf.)', 'Buchs (SG)'],
    ...['Freiburg (Elbe) Flecken', 'Middlebury (village)', '(Centrum)', 'a)', '()', ')', ''],
  ]
  for (const name of whole) {
    it(`leaves the name whole: ${name}`, () =>
      assert.deepEqual(splitCityName(name), { city: name }))
  }
})

describe('timezoneAt', () => {
  it('finds the timezone of a place', () => {
    assert.equal(timezoneAt(51.5142, -0.0931), 'Europe/London')
    assert.equal(timezoneAt(-33.87, 151.21), 'Australia/Sydney')
    assert.equal(timezoneAt(0, 0), 'Etc/GMT')
  })

  it('returns a known zone everywhere, the poles and the date line included', () => {
    for (let latitude = -90; latitude <= 90; latitude += 2.5) {
      for (let longitude = -180; longitude <= 180; longitude += 2.5) {
        assert.ok(utcOffset(timezoneAt(latitude, longitude) ?? '', 0), `${latitude}, ${longitude}`)
      }
    }
  })

  it('returns undefined outside the globe', () => {
    assert.equal(timezoneAt(90.1, 0), undefined)
    assert.equal(timezoneAt(0, -180.1), undefined)
    assert.equal(timezoneAt(Number.NaN, 0), undefined)
    assert.equal(timezoneAt(0, Number.POSITIVE_INFINITY), undefined)
  })
})
