import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readTruth } from '../../../lib/geo/accuracy/read-truth.ts'
import { needsGazetteer, takeSamples } from '../../../lib/geo/accuracy/take-samples.ts'

const read = (...lines: string[]) => readTruth(new TextEncoder().encode(lines.join('\n')))
const BERLIN = { latitude: 52.52, longitude: 13.4 }

describe('takeSamples', () => {
  const truth = read(
    'prefix,country,city,lat,lon',
    '192.0.2.0/26,DE,Bonn,50.7,7.1',
    '192.0.2.64/26,DE,Berlin,,',
    '192.0.2.128/26,DE,Neustadt,,',
    '192.0.2.192/26,DE,,,',
  )
  const coordinatesOf = ({ samples }: ReturnType<typeof takeSamples>) =>
    samples.map(({ coordinates }) => coordinates)

  it('finds the coordinates that the file lacks, and counts the cities', () => {
    assert.equal(needsGazetteer(truth), true)
    const taken = takeSamples(truth, ({ city }) => (city === 'Berlin' ? BERLIN : 'ambiguous'))
    const expected = [{ latitude: 50.7, longitude: 7.1 }, BERLIN, undefined, undefined]
    assert.deepEqual(coordinatesOf(taken), expected)
    const counts = { inFile: 1, byName: 1, unknown: 0, ambiguous: 1, notLookedUp: 0 }
    assert.deepEqual(taken.cities, counts)
  })

  it('uses only coordinates of the file without a gazetteer', () => {
    const { cities } = takeSamples(truth, undefined)
    assert.deepEqual([cities.inFile, cities.notLookedUp], [1, 2])
    assert.equal(needsGazetteer(read('192.0.2.0/24,DE')), false)
  })

  it('leaves out prefixes that narrower ones cover', () => {
    const { samples, covered } = takeSamples(
      read('192.0.2.0/24,DE', '192.0.2.0/25,FR', '192.0.2.128/25,FR'),
      undefined,
    )
    assert.equal(covered, 1)
    assert.deepEqual(
      samples.map(({ country }) => country),
      ['FR', 'FR'],
    )
  })
})
