import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openMmdb } from '../../../lib/geo/mmdb.ts'
import { collectRegions, createRegionCode, readRegions } from '../../../lib/geo/regions.ts'
import { CITY_RECORDS, mmdbBytes } from '../../geo-files.ts'
import { tempFolder } from '../../temp-folder.ts'

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
      assert.equal(codeOf(country, name), code, 'and again when remembered')
    })
  }
})

describe('collectRegions', () => {
  it('takes the first subdivision that has a code and a name', () => {
    const regions = collectRegions(openMmdb(mmdbBytes(CITY_RECORDS)))
    assert.deepEqual(regions, { 'GB-ENG': 'England', 'US-CA': 'California' })
  })
})

describe('readRegions', () => {
  const folder = tempFolder()

  it('reads what was collected, or nothing where nothing was', () => {
    const path = join(folder, 'regions.json')
    assert.deepEqual(readRegions(path), {})
    writeFileSync(path, '{"GB-ENG":"England"}')
    assert.deepEqual(readRegions(path), { 'GB-ENG': 'England' })
  })

  it('says what to do about a damaged file', () => {
    const path = join(folder, 'damaged.json')
    writeFileSync(path, '{"GB-')
    assert.throws(() => readRegions(path), /delete it and run npm run geo$/)
  })
})
