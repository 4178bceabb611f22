import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { locate } from '../../../lib/geo/answer/locate.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { compileOverlay } from '../../../lib/geo/overlay/overlay.ts'
import { addressOf } from '../../support/networks.ts'
import { openBytes } from '../open-file.ts'

const BUILT_AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const SUMMER = Date.UTC(2026, 6, 1)
const regionNames = { 'DE-BE': 'State of Berlin' }

const compile = (csv: string) => compileOverlay(csv, { builtAt: BUILT_AT, regionNames })
const openOverlay = (...lines: string[]) => openBytes(compile(lines.join('\n')))

function answer(overlay: GeoDatabase, text: string) {
  const address = addressOf(text)
  const options = { now: SUMMER, degraded: false }
  const { json, precision } = writeResult(address, locate([overlay], address), options)
  const result: Omit<GeolocationResult, 'meta'> = JSON.parse(`{${json}}`)
  return { ...result, precision }
}

const cities = (overlay: GeoDatabase, texts: readonly string[]) =>
  texts.map((text) => answer(overlay, text).location?.city)
const country = (overlay: GeoDatabase, text: string) =>
  answer(overlay, text).location?.country?.code

describe('a compiled overlay', () => {
  it('answers with every column', async () => {
    const overlay = await openOverlay(
      '10.0.0.0/8,country=DE,region=DE-BE,regionName=Berlin,district=Mitte,city=Berlin,' +
        'postalCode=10115,latitude=52.52,longitude=13.405,accuracyRadiusKm=8,' +
        'timezone=Europe/Berlin,asn=AS64500,organization=Example GmbH,domain=example.com',
    )
    assert.deepEqual(answer(overlay, '10.1.2.3'), {
      query: { type: 'ip', value: '10.1.2.3', ipVersion: 4 },
      location: {
        continent: { code: 'EU', name: 'Europe' },
        country: { code: 'DE', name: 'Germany', flag: '🇩🇪', unions: ['EU', 'EEA'] },
        region: { code: 'DE-BE', name: 'Berlin' },
        district: 'Mitte',
        city: 'Berlin',
        postalCode: '10115',
        coordinates: { latitude: 52.52, longitude: 13.405, accuracyRadius: 5 },
        timezone: 'Europe/Berlin',
        utcOffset: '+02:00',
      },
      network: { asn: 'AS64500', organization: 'Example GmbH', domain: 'example.com' },
      sources: { geo: ['overlay'], asn: ['overlay'], tz: ['overlay'] },
      precision: 'city',
    })
    assert.equal(overlay.metadata.builtAt, BUILT_AT)
    assert.equal(overlay.provider, 'overlay')
  })

  it('keeps coordinates of 0 and whole numbers', async () => {
    const overlay = await openOverlay('10.0.0.0/8,country=GH,city=Tema,latitude=0,longitude=-1')
    const coordinates = { latitude: 0, longitude: -1 }
    assert.deepEqual(answer(overlay, '10.0.0.1').location?.coordinates, coordinates)
  })

  it('names a region that is given only by its code', async () => {
    const overlay = await openOverlay(
      '10.0.0.0/8,country=DE,region=DE-BE',
      '11.0.0.0/8,country=DE,region=DE-XX',
    )
    const region = (text: string) => answer(overlay, text).location?.region
    assert.deepEqual(region('10.0.0.1'), { code: 'DE-BE', name: 'State of Berlin' })
    assert.deepEqual(region('11.0.0.1'), { code: 'DE-XX', name: 'DE-XX' })
  })

  it('accepts an autonomous system in any form, and without a place', async () => {
    const rows = ['10.0.0.0/8,asn=AS64500', '11.0.0.0/8,asn=4294967295', '12.0.0.0/8,asn=ASN1.10']
    const overlay = await openOverlay(...rows)
    assert.equal(answer(overlay, '12.0.0.1').network?.asn, 'AS65546')
    assert.equal(answer(overlay, '10.0.0.1').network?.asn, 'AS64500')
    assert.equal(answer(overlay, '11.0.0.1').network?.asn, 'AS4294967295')
    assert.equal(answer(overlay, '10.0.0.1').precision, 'none')
  })

  it('answers with the narrowest network, whatever the order of the rows', async () => {
    const overlay = await openOverlay(
      '10.1.2.3,country=DE,city=Host',
      '10.1.0.0/16,country=DE,city=Middle',
      '10.0.0.0/8,country=DE,city=Broad',
      '10.1.2.0/24,country=DE,city=Narrow',
    )
    const asked = ['10.1.2.3', '10.1.2.4', '10.1.3.0', '10.2.0.0', '11.0.0.0']
    assert.deepEqual(cities(overlay, asked), ['Host', 'Narrow', 'Middle', 'Broad', undefined])
  })

  it('answers with the last row of the same network', async () => {
    const overlay = await openOverlay('10.0.0.0/8,country=DE', '10.0.0.0/8,country=FR')
    assert.equal(country(overlay, '10.0.0.1'), 'FR')
  })

  it('finds IPv6 networks as well as IPv4 ones', async () => {
    const overlay = await openOverlay(
      '2001:db8::/32,country=DE,city=Broad',
      '2001:db8:1::/48,country=DE,city=Narrow',
      '10.0.0.0/8,country=DE,city=Four',
    )
    const asked = ['2001:db8::1', '2001:db8:1::1', '2001:db9::1', '::ffff:10.0.0.1']
    assert.deepEqual(cities(overlay, asked), ['Broad', 'Narrow', undefined, 'Four'])
  })

  it('treats an IPv4-mapped network as the IPv4 network', async () => {
    const overlay = await openOverlay(
      '::ffff:10.0.0.0/104,country=DE,city=Broad',
      '10.1.0.0/16,country=DE,city=Narrow',
      '::ffff:10.1.2.3,country=DE,city=Host',
    )
    const asked = ['10.0.0.1', '10.1.0.1', '10.1.2.3', '::ffff:10.1.2.3']
    assert.deepEqual(cities(overlay, asked), ['Broad', 'Narrow', 'Host', 'Host'])
  })

  it('does not answer IPv4 addresses with an IPv6 network', async () => {
    const overlay = await openOverlay('::/0,country=DE', '10.0.0.0/8,country=FR')
    assert.equal(country(overlay, '2001:db8::1'), 'DE')
    assert.equal(country(overlay, '10.0.0.1'), 'FR')
    assert.equal(country(overlay, '11.0.0.1'), undefined)
  })

  it('can hide a broader network with an empty row', async () => {
    const overlay = await openOverlay('10.0.0.0/8,country=DE', '10.1.0.0/16')
    assert.equal(country(overlay, '10.0.0.1'), 'DE')
    assert.equal(country(overlay, '10.1.0.1'), undefined)
  })
})

describe('the text of an overlay', () => {
  it('may hold comments, blank lines, spaces and the line ends of any system', async () => {
    const overlay = await openOverlay(
      '\uFEFF# offices, "old, ones',
      '',
      '  10.0.0.0/8 , country = DE , city = Bad  Homburg ,,\r',
      '   # 10.0.0.0/8,country=FR',
      ', ,,',
      '"# offices, new ones",,',
      '11.0.0.0/8,country=FR\r12.0.0.0/8,country=GH',
    )
    assert.deepEqual(cities(overlay, ['10.0.0.1']), ['Bad  Homburg'])
    assert.equal(country(overlay, '11.0.0.1'), 'FR')
    assert.equal(country(overlay, '12.0.0.1'), 'GH')
  })

  it('may quote commas and quotes', async () => {
    const overlay = await openOverlay(
      '10.0.0.0/8,"organization=Example, ""the"" Inc.",domain=a=b',
      '"11.0.0.0/8","country=DE"',
    )
    const { network } = answer(overlay, '10.0.0.1')
    assert.deepEqual(network, { organization: 'Example, "the" Inc.', domain: 'a=b' })
    assert.equal(country(overlay, '11.0.0.1'), 'DE')
  })
})

const EMBEDS = 'is never looked up: write the IPv4 network that it embeds, if any'
const TIMEZONE = 'timezone must be an IANA timezone such as Europe/Berlin'
const BAD_LINES: readonly (readonly [line: string, reason: string])[] = [
  ['10.0.0.1/8,country=DE', '"10.0.0.1/8" is not a network such as 10.0.0.0/8'],
  ['10.0.0.0/33,country=DE', '"10.0.0.0/33" is not a network such as 10.0.0.0/8'],
  ['example.com,country=DE', '"example.com" is not a network such as 10.0.0.0/8'],
  ['::1,country=DE', `"::1" ${EMBEDS}`],
  ['2001:0:1::/48,country=DE', `"2001:0:1::/48" ${EMBEDS}`],
  [',country=DE', '"" is not a network such as 10.0.0.0/8'],
  ['10.0.0.0/8,DE', '"DE" is not name=value'],
  ['10.0.0.0/8,=DE', '"=DE" is not name=value'],
  ['10.0.0.0/8,country=DE,country=FR', 'country is given twice'],
  [
    '10.0.0.0/8,land=DE',
    'land is not a column; the columns are country, region, regionName, district, city, postalCode, ' +
      'latitude, longitude, accuracyRadiusKm, timezone, asn, organization, domain',
  ],
  ['10.0.0.0/8,__proto__=DE', '__proto__ is not a column'],
  ['10.0.0.0/8,country=Germany', 'country must be an ISO 3166-1 code such as DE'],
  ['10.0.0.0/8,country=', 'country must be an ISO 3166-1 code such as DE'],
  ['10.0.0.0/8,country=DE,region=BE', 'region must be an ISO 3166-2 code such as DE-BE'],
  ['10.0.0.0/8,country=FR,region=DE-BE', 'region DE-BE is not in FR'],
  ['10.0.0.0/8,region=DE-BE', 'region needs country'],
  ['10.0.0.0/8,country=DE,regionName=Berlin', 'regionName needs region'],
  ['10.0.0.0/8,country=DE,city=Berlin,district=Mitte', 'district needs region'],
  ['10.0.0.0/8,country=DE,region=DE-BE,district=Mitte', 'district needs city'],
  ['10.0.0.0/8,city=Berlin', 'city needs country'],
  ['10.0.0.0/8,country=DE,city=', 'city must not be empty'],
  ['10.0.0.0/8,country=DE,postalCode=10115', 'postalCode needs city'],
  ['10.0.0.0/8,country=DE,latitude=1,longitude=1', 'latitude needs city'],
  ['10.0.0.0/8,country=DE,city=Berlin,latitude=1', 'latitude needs longitude'],
  ['10.0.0.0/8,country=DE,city=Berlin,longitude=1', 'longitude needs latitude'],
  ['10.0.0.0/8,country=DE,accuracyRadiusKm=1', 'accuracyRadiusKm needs latitude'],
  ['10.0.0.0/8,latitude=north', 'latitude must be a number'],
  ['10.0.0.0/8,latitude=90.1', 'latitude must be at most 90'],
  ['10.0.0.0/8,longitude=-180.5', 'longitude must be at least -180'],
  ['10.0.0.0/8,accuracyRadiusKm=-1', 'accuracyRadiusKm must be at least 0'],
  ['10.0.0.0/8,timezone=Europe/Berlin', 'timezone needs country'],
  ['10.0.0.0/8,timezone=CEST+2', TIMEZONE],
  ['10.0.0.0/8,country=DE,timezone=EUROPE/BERLIN', TIMEZONE],
  ['10.0.0.0/8,timezone=+02:00', TIMEZONE],
  ['10.0.0.0/8,asn=Example', 'asn must be a number such as AS64500'],
  ['10.0.0.0/8,asn=AS0', 'asn must be at least 1'],
  ['10.0.0.0/8,asn=4294967296', 'asn must be a number such as AS64500'],
  ['10.0.0.0/8,"organization=Example', 'a quote is not closed or is in the middle of a column'],
  ['10.0.0.0/8,organization="A, B"', 'a quote is not closed or is in the middle of a column'],
]

describe('an invalid overlay', () => {
  for (const [line, reason] of BAD_LINES) {
    it(`is reported with the number of its bad line: ${line}`, () => {
      const csv = `# first\n\n10.0.0.0/8,country=DE\n${line}\n11.0.0.0/8,country=DE`
      const beginning = `Cannot read the overlay: line 4: ${reason}`
      const isReported = ({ message }: Error) => message.startsWith(beginning)
      assert.throws(() => compile(csv), isReported)
    })
  }

  it('is reported if it has no rows', () => {
    const message = 'Cannot read the overlay: it has no rows'
    assert.throws(() => compile('# nothing\n'), { message })
  })
})
