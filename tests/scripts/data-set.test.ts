import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseAddress } from '../../lib/address.ts'
import { openDatabase } from '../../lib/geo/database.ts'
import { locate } from '../../lib/geo/locate.ts'
import { randomMix } from '../../scripts/bench/addresses.ts'
import { writeDataSet } from '../../scripts/bench/data-set.ts'
import { tempFolder } from '../temp-folder.ts'

describe('writeDataSet', () => {
  const path = join(tempFolder(), 'data-set.mmdb')

  it('writes a City file that knows a city for every public IPv4 address', async () => {
    writeDataSet(path, 2_000)
    const database = await openDatabase(path, { map: false, regionCode: () => undefined })
    for (const text of randomMix(500).addresses) {
      const address = parseAddress(text)
      assert.ok(address)
      assert.match(locate([database], address).place?.city ?? '', /^City \d+$/, text)
    }
  })

  it('writes the same file again, and a larger one for more networks', () => {
    writeDataSet(path, 2_000)
    const bytes = readFileSync(path)
    writeDataSet(path, 2_000)
    assert.ok(readFileSync(path).equals(bytes))
    writeDataSet(path, 4_000)
    assert.ok(statSync(path).size > bytes.length * 1.5)
  })
})
