import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { randomMix } from '../../bench/parts/addresses.ts'
import { writeDataSet } from '../../bench/parts/data-set.ts'
import { locate } from '../../lib/geo/answer/locate.ts'
import { openDatabase } from '../../lib/geo/database.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { tempFolder } from '../support/temp-folder.ts'

describe('writeDataSet', () => {
  const path = join(tempFolder(), 'data-set.mmdb')

  it('writes a City file with a city for every public IPv4 address', async () => {
    writeDataSet(path, 2_000)
    const database = await openDatabase(path, { map: false, regionCode: () => undefined })
    for (const text of randomMix(500).addresses) {
      const address = parseAddress(text)
      assert.ok(address)
      assert.match(locate([database], address).place?.city ?? '', /^City \d+$/, text)
    }
  })

  it('writes the same bytes each time, and a larger file for more networks', () => {
    writeDataSet(path, 2_000)
    const bytes = readFileSync(path)
    writeDataSet(path, 2_000)
    assert.ok(readFileSync(path).equals(bytes))
    writeDataSet(path, 4_000)
    assert.ok(statSync(path).size > bytes.length * 1.5)
  })
})
