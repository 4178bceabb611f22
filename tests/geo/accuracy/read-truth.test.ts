import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readTruth } from '../../../lib/geo/accuracy/read-truth.ts'
import { needsGazetteer, takeSamples } from '../../../lib/geo/accuracy/take-samples.ts'

const read = (...lines: string[]) => readTruth(new TextEncoder().encode(lines.join('\n')))
const refusal = (...lines: string[]) => {
  try {
    read(...lines)
    return 'none'
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}

const HEADER = 'prefix,country,region,city,lat,lon,kind,operator'

describe('a file with a header line', () => {
  it('is read by the names of its columns', () => {
    const { form, rows, hasGroups } = read(
      HEADER,
      '192.0.2.0/25,DE,DE-BE,Berlin,52.52,13.405,isp,one',
      '2001:DB8::/48,us,,,,,isp,two',
    )
    assert.deepEqual([form, hasGroups], ['columns', true])
    const [first, second] = rows.map(({ network: _, ...row }) => row)
    assert.deepEqual(first, {
      prefix: '192.0.2.0/25',
      country: 'DE',
      region: 'DE-BE',
      city: 'Berlin',
      coordinates: { latitude: 52.52, longitude: 13.405 },
      group: 'one',
    })
    assert.deepEqual(second, {
      prefix: '2001:db8::/48',
      country: 'US',
      region: undefined,
      city: undefined,
      coordinates: undefined,
      group: 'two',
    })
  })

  it('may spell columns in upper case and begin with a byte order mark', () => {
    const header = '\uFEFFCountry,LATITUDE,Longitude,Group,Prefix'
    const { rows } = read(header, 'DE,1,-2.5,a,192.0.2.0/24')
    assert.deepEqual(rows[0]?.coordinates, { latitude: 1, longitude: -2.5 })
    assert.equal(rows[0]?.group, 'a')
  })

  it('gives the same for every order of its columns', () => {
    const names = ['prefix', 'country', 'region', 'city', 'lat', 'lon', 'group', 'kind']
    const values = ['192.0.2.0/24', 'DE', 'DE-BE', '"Berlin, Mitte"', '52.5', '13.4', 'a', 'x']
    const expected = read(names.join(), values.join()).rows
    fc.assert(
      fc.property(fc.shuffledSubarray([...names.keys()], { minLength: 8 }), (order) => {
        const line = (cells: readonly string[]) => order.map((at) => cells[at]).join()
        assert.deepEqual(read(line(names), line(values)).rows, expected)
      }),
    )
  })

  it('makes each prefix a group if it names none', () => {
    const { rows, hasGroups } = read('prefix,country', '192.0.2.0/24,DE', '198.51.100.0/24,FR')
    assert.equal(hasGroups, false)
    const groups = rows.map(({ group }) => group)
    assert.deepEqual(groups, ['192.0.2.0/24', '198.51.100.0/24'])
  })

  it('gives regions their codes of today', () => {
    assert.equal(read('prefix,country,region', '192.0.2.0/24,NO,NO-01').rows[0]?.region, 'NO-31')
  })

  it('may leave the country out of the code of a region', () => {
    const { rows } = read('prefix,country,region', '192.0.2.0/24,de,be', '198.51.100.0/24,US,CA')
    const regions = rows.map(({ region }) => region)
    assert.deepEqual(regions, ['DE-BE', 'US-CA'])
  })

  it('is refused if commas do not separate its columns', () => {
    for (const separator of [';', '\t']) {
      const header = ['prefix', 'country', 'lat', 'lon'].join(separator)
      assert.equal(refusal(header, '192.0.2.0/24'), 'commas must separate its columns')
    }
  })

  it('is refused if a column is missing or occurs twice', () => {
    assert.equal(refusal('prefix,city', '192.0.2.0/24,x'), 'its header has no column country')
    const half = refusal('prefix,country,lat', '192.0.2.0/24,DE,1')
    assert.equal(half, 'its header has only one of lat and lon')
    const twice = refusal('prefix,country,group,operator', '192.0.2.0/24,DE,a,b')
    assert.equal(twice, 'its header has two columns for group')
  })
})

describe('a geofeed', () => {
  it('is read by RFC 8805', () => {
    const { form, rows, skipped } = read(
      '# prefix,country,region,city,postal',
      '192.0.2.0/24,DE,DE-BE,Berlin,10115',
      '198.51.100.0/24,FR,,, # a comment',
      '203.0.113.0/24,,,,',
    )
    assert.equal(form, 'geofeed')
    const places = rows.map(({ prefix, country, city }) => `${prefix} ${country} ${city}`)
    assert.deepEqual(places, ['192.0.2.0/24 DE Berlin', '198.51.100.0/24 FR undefined'])
    assert.equal(skipped.withoutPlace, 1)
  })
})

describe('bad lines', () => {
  it('are counted, and the first five named with their numbers', () => {
    const { rows, skipped, examples } = read(
      HEADER,
      '192.0.2.0/24,DE,,,,,,a',
      '192.0.2.1/24,DE,,,,,,a',
      '198.51.100.0/24,XX,,,,,,a',
      '198.51.100.0/24,DE,Berlin,,,,,a',
      '198.51.100.0/24,DE,,,91,0,,a',
      '198.51.100.0/24,DE,,,1,,,a',
      '198.51.100.0/24,,,,1,1,,a',
    )
    assert.deepEqual([rows.length, skipped.bad], [1, 6])
    assert.deepEqual(examples, [
      'line 3: "192.0.2.1/24" is not a network such as 10.0.0.0/8',
      'line 4: "XX" is not an ISO 3166-1 code such as DE',
      'line 5: "BERLIN" is not an ISO 3166-2 code such as DE-BE',
      'line 6: "91" is not a latitude in degrees',
      'line 7: it has only one of lat and lon',
    ])
  })

  it('alone are refused with the first reason', () => {
    const nothing = 'it has no line with a prefix and its country'
    const first = 'line 1: "hello" is not a network such as 10.0.0.0/8'
    assert.equal(refusal('hello', 'world'), `${nothing}; ${first}`)
    assert.equal(refusal(''), nothing)
    assert.equal(refusal('<!doctype html>'), 'it is a page, not a list of prefixes')
  })

  it('never throw anything but an Error with a reason', () => {
    const cell = fc.oneof(fc.string(), fc.constantFrom('192.0.2.0/24', 'DE', 'DE-BE', '1', '"'))
    const line = fc.array(cell, { maxLength: 8 }).map((cells) => cells.join())
    fc.assert(
      fc.property(fc.boolean(), fc.array(line), (hasHeader, lines) => {
        assert.equal(typeof refusal(...(hasHeader ? [HEADER] : []), ...lines), 'string')
      }),
    )
  })
})

describe('two lines with one prefix', () => {
  it('count once if they say the same', () => {
    const { rows, skipped } = read(HEADER, '192.0.2.0/24,DE,,,,,,a', '192.0.2.0/24,DE,,,,,,b')
    assert.deepEqual([rows.length, rows[0]?.group, skipped.repeated], [1, 'a', 1])
  })

  it('do not count if they contradict each other', () => {
    const { rows, networks, skipped, examples } = read(
      HEADER,
      '198.51.100.0/24,DE,,,,,,a',
      '192.0.2.0/24,DE,,,,,,a',
      '192.0.2.0/24,FR,,,,,,a',
      '192.0.2.0/24,DE,,,,,,a',
    )
    assert.deepEqual([rows.length, networks.length, skipped.contradictory], [1, 2, 1])
    assert.deepEqual(examples, ['line 4: 192.0.2.0/24 is elsewhere in line 3'])
  })
})

describe('takeSamples', () => {
  const BERLIN = { latitude: 52.52, longitude: 13.4 }
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
    const whole = read('192.0.2.0/24,DE', '192.0.2.0/25,FR', '192.0.2.128/25,FR')
    const { samples, covered } = takeSamples(whole, undefined)
    assert.equal(covered, 1)
    const countries = samples.map(({ country }) => country)
    assert.deepEqual(countries, ['FR', 'FR'])
  })
})
