import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { MmdbDecoder } from '../../../lib/geo/mmdb/decoder.ts'
import { type Address, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { addressOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFile, openRecords } from '../open-file.ts'

const FLIPS = 500
const CUT_EVERY_BYTES = 4096
const EVERY_BYTE_OF = 300
const LOOK_UPS = 200

const path = join(tempFolder(), 'damaged.mmdb')
const random = seeded(20_260_115)
const good = bigFile()
const addresses: Address[] = Array.from({ length: LOOK_UPS }, (_, n) =>
  n % 4 === 0
    ? ipv6(random())
    : ipv4FromBits(n % 4 === 1 ? random() : 0x0a00_0000 + (random() & 0xf_ffff)),
)

/** Opens the bytes as a server would: 'refused' in one line, or 'opened' and harmless. */
async function tryFile(bytes: Uint8Array): Promise<'refused' | 'opened'> {
  writeFileSync(path, bytes)
  const database = await openFile(path).catch((error: Error) => {
    assert.match(error.message, /^Cannot use the database [^\n]+: [^\n]+$/)
    return null
  })
  if (database === null) return 'refused'
  for (const address of addresses) database.find(address)
  return 'opened'
}

describe('a database file', () => {
  it('is opened if it is complete', async () => {
    assert.ok(good.length > 90_000 && good.length < 200_000, String(good.length))
    assert.equal(await tryFile(good), 'opened')
  })

  it('is refused wherever it is cut off', async () => {
    const cuts = new Set<number>()
    for (let at = 0; at < good.length; at += CUT_EVERY_BYTES) cuts.add(at)
    for (let n = 0; n < EVERY_BYTE_OF; n++) cuts.add(n).add(good.length - 1 - n)
    for (const at of cuts) {
      assert.equal(await tryFile(good.subarray(0, at)), 'refused', `cut at ${at}`)
    }
  })

  it('with flipped bits is refused, or can be looked up without an error', async () => {
    let refused = 0
    for (let n = 0; n < FLIPS; n++) {
      // Every third time in the metadata, where one byte matters most.
      const bytes = damaged(n % 3 === 0 ? good.length - 250 : 0)
      if ((await tryFile(bytes)) === 'refused') refused++
    }
    assert.ok(refused > 0 && refused < FLIPS, `${refused} refused`)
  })

  it('is refused if it is not a MaxMind DB', async () => {
    const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
    const two = Buffer.concat([marker, marker])
    for (const bytes of ['', 'text', 'x'.repeat(200_000), marker, two]) {
      assert.equal(await tryFile(Buffer.from(bytes)), 'refused')
    }
  })

  it('with unknown records is refused, and the error names the type', async () => {
    await assert.rejects(openRecords({ '1.0.0.0/8': { foo: 1 } }, 'Strange'), /"Strange"/)
  })

  it('without a record is refused', async () => {
    assert.equal(await tryFile(mmdbBytes({})), 'refused')
  })
})

describe('the decoder', () => {
  const decode = (...bytes: number[]) => new MmdbDecoder(Buffer.from(bytes), 0).decode(0)

  it('refuses a pointer to itself', () => {
    assert.throws(() => decode(0x20, 0x00), Error)
  })

  it('refuses circular pointers through maps and arrays', () => {
    assert.throws(() => decode(0x20, 0x02, 0x20, 0x00), Error)
    assert.throws(() => decode(0x01, 0x04, 0x20, 0x00), Error, 'an array of itself')
    assert.throws(() => decode(0xe1, 0x41, 0x61, 0x20, 0x00), Error, 'a map of itself')
    assert.throws(() => decode(0xe1, 0x20, 0x00, 0x40), Error, 'a map as its own key')
  })

  it('refuses arrays, maps and texts of millions before it allocates them', () => {
    assert.throws(() => decode(0x1f, 0x04, 0xff, 0xff, 0xff, 0x40), /too large/)
    assert.throws(() => decode(0xff, 0xff, 0xff, 0xff, 0x40), /too large/)
    assert.throws(() => decode(0x5f, 0xff, 0xff, 0xff), /too large|ends/)
    assert.throws(() => decode(0x9f, 0xff, 0xff, 0xff), /too large|ends/)
  })

  it('refuses endlessly nested arrays', () => {
    const nested = Array.from({ length: 100_000 }, () => [0x01, 0x04]).flat()
    assert.throws(() => new MmdbDecoder(Buffer.from(nested), 0).decode(0), Error)
  })

  it('reads nested pointers that expand to billions of values without expanding them', () => {
    const bytes: number[] = []
    // Each array holds two pointers to the one before it.
    bytes.push(0x41, 0x61)
    for (let level = 0, before = 0; level < 40; level++) {
      const at = bytes.length
      bytes.push(0x02, 0x04, 0x20, before, 0x20, before)
      before = at
    }
    const start = bytes.length - 6
    const value = new MmdbDecoder(Buffer.from(bytes), 0).decode(start)
    assert.ok(Array.isArray(value) && value.length === 2)
  })

  it('reads integers of every size', () => {
    assert.equal(decode(0xa0), 0)
    assert.equal(decode(0xa2, 0xff, 0xff), 65_535)
    assert.equal(decode(0xc4, 0xff, 0xff, 0xff, 0xff), 0xffff_ffff)
    assert.equal(decode(0x04, 0x01, 0xff, 0xff, 0xff, 0xff), -1)
    assert.equal(decode(0x10, 0x03, ...Array.from({ length: 16 }, () => 0xff)), 2n ** 128n - 1n)
    assert.equal(BigInt(decode(0x08, 0x02, 1, 0, 0, 0, 0, 0, 0, 0) as bigint), 2n ** 56n)
  })

  it('refuses integers that are too long, unknown types and truncated values', () => {
    assert.throws(() => decode(0x11, 0x03, ...Array.from({ length: 17 }, () => 1)), /17 bytes/)
    assert.throws(() => decode(0x00, 0x09), /unknown type 16/)
    assert.throws(() => decode(0x45, 0x61), /ends/)
    assert.throws(() => decode(), /ends/)
    assert.throws(() => decode(0x68, 0x00), /ends|range/)
    assert.throws(() => decode(0xe1, 0xa0, 0x40), /key is not a text/)
  })
})

/** The good file with one to four bytes changed after `from`. */
function damaged(from: number): Buffer {
  const bytes = Buffer.from(good)
  for (let left = 1 + (random() % 4); left > 0; left--) {
    const at = from + (random() % (bytes.length - from))
    bytes[at] = (bytes[at] ?? 0) ^ (1 + (random() % 255))
  }
  return bytes
}

/** Some 100 KB of records that share parts, as real files do. */
function bigFile(): Buffer {
  const time_zone = 'Europe/Berlin'
  const records = Array.from({ length: 3_000 }, (_, n) => [
    `10.${n >> 8}.${n & 255}.0/24`,
    {
      city: { geoname_id: n, names: { de: `Stadt ${n % 900}`, en: `Town ${n % 900}` } },
      continent: { code: 'EU', names: { en: 'Europe' } },
      country: { iso_code: n % 2 === 0 ? 'DE' : 'FR', names: { en: 'Somewhere' } },
      location: { latitude: (n % 90) + 0.5, longitude: (n % 180) - 0.5, time_zone },
      subdivisions: [{ iso_code: 'BE', names: { en: `Region ${n % 16}` } }],
    },
  ])
  return mmdbBytes({ ...Object.fromEntries(records), '2a00::/12': { country: { iso_code: 'NL' } } })
}

function ipv6(bits: number): Address {
  return addressOf(`2a00:${(bits >>> 16).toString(16)}:${(bits & 0xffff).toString(16)}::1`)
}

/** Unsigned 32-bit numbers, the same ones in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}
