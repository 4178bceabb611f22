import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  collectRegions,
  createRegionCode,
  readRegionNames,
  readRegions,
} from '../../../lib/geo/files/regions.ts'
import { openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import { CITY_RECORDS, mmdbBytes } from '../../support/geo-files.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const codeOf = createRegionCode({
  'DE-BE': 'State of Berlin',
  'GB-ENG': 'England',
  'RU-MOS': 'Moscow Oblast',
  'RU-MOW': 'Moscow',
  'SE-AB': 'Stockholm County',
  'TR-34': 'Istanbul',
  'US-WA': 'Washington',
  'US-DC': 'District of Columbia',
  'XX-A': 'North Province',
  'XX-B': 'North Region',
})

describe('the code of a region', () => {
  const cases = [
    ['GB', 'England', 'GB-ENG'],
    ['GB', 'ENGLAND', 'GB-ENG'],
    ['DE', 'Berlin', 'DE-BE'],
    ['DE', 'Land Berlin', undefined],
    ['SE', 'Stockholm', 'SE-AB'],
    ['SE', 'Region Stockholm', 'SE-AB'],
    ['RU', 'Moscow', 'RU-MOW'],
    ['RU', 'Moscow Oblast', 'RU-MOS'],
    ['TR', 'İstanbul', 'TR-34'],
    ['US', 'Washington', 'US-WA'],
    ['US', 'District of Columbia', 'US-DC'],
    ['XX', 'North', undefined],
    ['FR', 'England', undefined],
    ['GB', '', undefined],
    ['GB', 'toString', undefined],
  ] as const
  for (const [country, name, code] of cases) {
    it(`of "${name}" in ${country} is ${code}`, () => {
      assert.equal(codeOf(country, name), code)
      assert.equal(codeOf(country, name), code, 'the cached code')
    })
  }
})

describe('collectRegions', () => {
  it('collects the first subdivision of a record if it has a code and a name', () => {
    const regions = collectRegions(openMmdb(mmdbBytes(CITY_RECORDS)))
    assert.deepEqual(regions, { 'GB-ENG': 'England', 'US-CA': 'California' })
  })
})

describe('readRegions', () => {
  const folder = tempFolder()

  it('reads the collected regions, or none if there is no file', () => {
    const path = join(folder, 'regions.json')
    assert.deepEqual(readRegions(path), {})
    writeFileSync(path, '{"GB-ENG":"England"}')
    assert.deepEqual(readRegions(path), { 'GB-ENG': 'England' })
  })

  it('gives counties of Norway the codes of 2024', () => {
    const path = join(folder, 'norway.json')
    writeFileSync(path, '{"NO-01":"Østfold"}')
    assert.deepEqual(readRegions(path), { 'NO-31': 'Østfold' })
  })

  it('names the remedy for a damaged file', () => {
    const path = join(folder, 'damaged.json')
    writeFileSync(path, '{"GB-')
    assert.throws(() => readRegions(path), /delete it and run npm run geo$/)
  })
})

/** Codes of real feeds, and of the example of RFC 8805, that MaxMind's file may lack. */
describe('readRegionNames', () => {
  const path = join(tempFolder(), 'regions.json')
  writeFileSync(path, '{"GB-ENG":"England as collected"}')
  const names = readRegionNames(path)
  const expected = {
    'GB-ENG': 'England as collected',
    'GB-LND': 'London',
    'FR-75C': 'Paris',
    'IT-MI': 'Milan',
    'IT-RM': 'Rome',
    'ES-M': 'Madrid Province',
    'ES-B': 'Barcelona',
    'BE-VAN': 'Antwerp',
    'IE-D': 'Dublin',
    'SG-01': 'Central Singapore',
    'IN-TG': 'Telangana',
    'MA-CAS': 'Casablanca',
    'LT-58': 'Vilnius',
    'NO-31': 'Østfold',
  }
  for (const [code, name] of Object.entries(expected)) {
    it(`calls ${code} ${name}`, () => assert.equal(names[code], name))
  }

  it('has all countries with regions, in the form of ISO 3166-2', () => {
    const codes = Object.keys(names)
    assert.ok(codes.length > 5_000)
    for (const code of codes) assert.match(code, /^[A-Z]{2}-[A-Z\d]{1,3}$/)
  })
})
