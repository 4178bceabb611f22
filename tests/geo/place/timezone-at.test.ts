import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utcOffset } from '../../../lib/geo/answer/timezones.ts'
import { timezoneAt } from '../../../lib/geo/place/timezone-at.ts'

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
