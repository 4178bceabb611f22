import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Reader } from 'mmdb-lib'
import { locate } from '../../../lib/geo/answer/locate.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { findBundled } from '../../../lib/geo/files/bundled.ts'
import { type Address, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { openBytes, openFile } from '../open-file.ts'
import { ipv6, sibling } from '../sibling.ts'

const ADDRESSES = 20_000
const SIBLINGS = 3

describe('the prefix of an answer', () => {
  const { maxmindCity, dbipCity } = findBundled()
  let oracle: Reader<object>
  let databases: GeoDatabase[]
  before(async () => {
    const bytes = gunzipSync(readFileSync(maxmindCity.path))
    oracle = new Reader(bytes)
    const others = dbipCity.map(({ path }) => openFile(path))
    databases = await Promise.all([openBytes(bytes), ...others])
  })

  it('has the length that mmdb-lib reports for GeoLite2 City', () => {
    for (const address of sample(1)) {
      const [, length] = oracle.getWithPrefixLength(address.text)
      assert.equal(databases[0]?.matchedBits(address), length, address.text)
    }
  })

  it('covers only addresses with the same answer in the bundled databases', () => {
    const random = createRandom(3)
    for (const address of sample(2)) {
      const kept = Math.max(...databases.map(({ matchedBits }) => matchedBits(address)))
      const expected = answerTo(databases, address)
      for (let n = 0; n < SIBLINGS; n++) {
        const noise = Array.from({ length: 4 }, () => anyWord(random))
        const other = sibling(address, kept, noise)
        assert.equal(answerTo(databases, other), expected, `${address.text} ${other.text}`)
      }
    }
  })
})

/** The default answer without `query` and `meta`. */
function answerTo(databases: readonly GeoDatabase[], address: Address): string {
  const options = { now: 0, degraded: false }
  const { json } = writeResult(address, locate(databases, address), options)
  const { query, ...answer } = JSON.parse(`{${json}}`)
  return JSON.stringify(answer)
}

function anyWord(random: () => number): number {
  return Math.floor(random() * 2 ** 32)
}

/** IPv4 addresses, and IPv6 addresses in 2a00::/11, where no address embeds an IPv4 address. */
function sample(seed: number): Address[] {
  const random = createRandom(seed)
  return Array.from({ length: ADDRESSES }, (_, n) => {
    if (n % 4 > 0) return ipv4FromBits(anyWord(random))
    return ipv6([0x2a00_0000 + (anyWord(random) >>> 11), anyWord(random), 0, anyWord(random)])
  })
}
