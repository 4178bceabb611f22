import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSampled, readSettings } from '../../../web/rum/settings.ts'

const PLACE = { script: 'https://geo.example/rum.js', page: 'https://shop.example/a/b' }
const ENDPOINT = 'https://geo.example/v1/telemetry/rum'

describe('the attributes of the script tag', () => {
  it('are optional', () => {
    assert.deepEqual(readSettings({}, PLACE), { endpoint: ENDPOINT, sample: 1 })
    assert.deepEqual(readSettings({ endpoint: '', sample: '' }, PLACE), {
      endpoint: ENDPOINT,
      sample: 1,
    })
  })

  it('name the endpoint relative to the page', () => {
    const endpointOf = (endpoint: string) => readSettings({ endpoint }, PLACE).endpoint
    assert.equal(endpointOf('https://other.example/x'), 'https://other.example/x')
    assert.equal(endpointOf('/x'), 'https://shop.example/x')
    assert.throws(() => endpointOf('https://'), TypeError)
  })

  it('set the share of page loads to measure', () => {
    const shareOf = (sample: string) => {
      const settings = readSettings({ sample }, PLACE)
      const draws = Array.from({ length: 100 }, (_, n) => n / 100)
      return draws.filter((random) => isSampled(settings, random)).length
    }
    const shares = ['0', '0.25', '1', '2', '-1', '10%'].map(shareOf)
    assert.deepEqual(shares, [0, 25, 100, 100, 0, 100])
  })
})
