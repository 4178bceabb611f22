import assert from 'node:assert/strict'
import fs, { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { locate } from '../../../lib/geo/answer/locate.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import { type Atlas, openAtlas } from '../../../lib/geo/atlas/atlas.ts'
import { BytePool } from '../../../lib/geo/atlas/byte-pool.ts'
import { writeAtlas } from '../../../lib/geo/atlas/compile.ts'
import { findAtlas, makeAtlas } from '../../../lib/geo/atlas/file.ts'
import { createAtlasKeeper } from '../../../lib/geo/atlas/keeper.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { operatorFiles } from '../../../lib/geo/files/source-files.ts'
import { openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/parts/durations.ts'
import { type Ipv4, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { geoFiles, mmdbBytes } from '../../support/geo-files.ts'
import { NOON } from '../../support/helpers.ts'
import { addressOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFile } from '../open-file.ts'
import { sibling } from '../sibling.ts'

const folder = tempFolder()
const { city, dbip, asn, ipinfo } = geoFiles()
const SETS = [[city, dbip, asn, ipinfo], [ipinfo, dbip], [city], [asn]]

const openAll = (files: readonly string[]) => Promise.all(files.map(openFile))

async function atlasOf(databases: readonly GeoDatabase[], name: string): Promise<Atlas> {
  const path = join(folder, name)
  await writeAtlas(path, databases, () => {})
  return openAtlas(readFileSync(path))
}

/** First and last addresses of all networks, and their neighbours. */
function edgesOf(databases: readonly GeoDatabase[]): Ipv4[] {
  const starts = new Set(databases.flatMap((database) => [...database.ipv4Starts()]))
  const edges = [...starts].flatMap((start) => [start - 1, start, start + 1])
  return edges.map((bits) => ipv4FromBits(bits >>> 0))
}

for (const files of SETS) {
  describe(`an atlas of ${files.length} databases, ${files[0]?.split('/').at(-1)} first`, () => {
    let databases: GeoDatabase[]
    let atlas: Atlas
    before(async () => {
      databases = await openAll(files)
      atlas = await atlasOf(databases, `${files.length}-${SETS.indexOf(files)}.bin`)
    })

    const assertAlike = (address: Ipv4) => {
      const extras = { prefix: undefined, finding: undefined, hasConfidence: true }
      for (const degraded of [false, true]) {
        const options = { now: NOON, degraded, extras }
        const merged = writeResult(address, atlas.find(address.bits), options)
        assert.deepEqual(merged, writeResult(address, locate(databases, address), options))
      }
    }

    it('answers like the databases at the edges of all networks', () => {
      const edges = edgesOf(databases)
      assert.ok(edges.length > 20)
      for (const edge of edges) assertAlike(edge)
    })

    it('answers like the databases at any address', () => {
      const anywhere = fc.integer({ min: 0, max: 0xffff_ffff }).map(ipv4FromBits)
      fc.assert(fc.property(anywhere, assertAlike), { numRuns: 2_000 })
    })

    it('knows how many bits the databases match, if these are more than 16', () => {
      const anywhere = fc.integer({ min: 0, max: 0xffff_ffff }).map(ipv4FromBits)
      const assertSame = (address: Ipv4) => {
        const bits = Math.max(...databases.map(({ matchedBits }) => matchedBits(address)))
        assert.equal(atlas.matchedBits(address.bits), bits > 16 ? bits : undefined, address.text)
      }
      for (const edge of edgesOf(databases)) assertSame(edge)
      fc.assert(fc.property(anywhere, assertSame), { numRuns: 2_000 })
    })

    it('has the same answer everywhere in the block that the databases match', () => {
      const near = fc.constantFrom(...edgesOf(databases))
      const property = fc.property(near, fc.integer(), (address, noise) => {
        const kept = Math.max(...databases.map(({ matchedBits }) => matchedBits(address)))
        const other = sibling(address, kept, [noise])
        assert.ok(other.version === 4)
        assert.deepEqual(atlas.find(other.bits), atlas.find(address.bits))
      })
      fc.assert(property, { numRuns: 2_000 })
    })
  })
}

describe('an atlas of a file with a block whose halves have the same record', () => {
  it('knows that a look-up matches one half', async () => {
    const path = join(folder, 'halves.mmdb')
    const halves = {
      '81.2.69.0/25': { country_code: 'DE' },
      '81.2.69.128/25': { country_code: 'FR' },
    }
    const bytes = mmdbBytes(halves, { databaseType: 'ipinfo country', ipVersion: 4 })
    const { nodeCount, recordSize } = openMmdb(bytes).metadata
    const half = recordSize / 8
    // The last node, whose records are those two.
    const left = (nodeCount - 1) * half * 2
    bytes.copy(bytes, left + half, left, left + half)
    writeFileSync(path, bytes)
    const databases = await openAll([path])
    const atlas = await atlasOf(databases, 'halves.bin')
    for (const address of [0x5102_4500, 0x5102_45ff].map(ipv4FromBits)) {
      assert.equal(databases[0]?.matchedBits(address), 25)
      assert.equal(atlas.matchedBits(address.bits), 25)
    }
  })
})

describe('the file of an atlas', () => {
  const files = () => operatorFiles(folder, [city, asn])
  const make = async () => makeAtlas(folder, files(), await openAll([city, asn]), () => {})
  const address = addressOf('81.2.69.160')
  const foundCity = async () => {
    assert.ok(address.version === 4)
    return (await findAtlas(folder, files()))?.find(address.bits).place?.json.city ?? ''
  }

  it('is found once it is made, only for the same files', async () => {
    assert.equal(await findAtlas(folder, files()), null)
    const partial = join(folder, '.partial-0a1b2c3d-atlas-1.bin')
    const others = join(folder, '.partial-0a1b2c3d-overlay.mmdb')
    for (const path of [partial, others]) writeFileSync(path, 'half')
    await make()
    assert.deepEqual([partial, others].map(existsSync), [false, true], 'of a killed process')
    assert.match(await foundCity(), /London/)
    assert.equal(await findAtlas(folder, operatorFiles(folder, [asn, city])), null)
    assert.equal(await findAtlas(folder, operatorFiles(folder, [city])), null)
  })

  it('is made again if it is damaged', async () => {
    await make()
    const path = atlasPath()
    const whole = readFileSync(path)
    for (const length of [0, 3, 4, 100, whole.length - 1, whole.length - 5]) {
      writeFileSync(`${path}.cut`, whole.subarray(0, length))
      assert.throws(() => openAtlas(readFileSync(`${path}.cut`)), String(length))
    }
    fs.chmodSync(path, 0o600)
    fs.truncateSync(path, 100)
    assert.equal(await findAtlas(folder, files()), null)
    await make()
    assert.match(await foundCity(), /London/)
  })
})

describe('the keeper of the atlas', () => {
  it('makes one atlas at a time, then another for files that have changed meanwhile', async () => {
    const making: PromiseWithResolvers<void>[] = []
    const keeper = createAtlasKeeper({
      findAtlas: async () => null,
      make: () => {
        const one = Promise.withResolvers<void>()
        making.push(one)
        return one.promise
      },
      onFailure: assert.fail,
    })
    const look = async () => {
      await keeper.adopt([])
      return making.length
    }
    assert.deepEqual([await look(), await look()], [1, 1])
    keeper.drop()
    assert.equal(await look(), 1)
    making[0]?.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([await look(), await look()], [2, 2])
  })
})

/** A keeper that finds no atlas and makes one so, and how many it has begun to make after each look. */
function keeperThat(
  make: () => Promise<void>,
  onFailure: Parameters<typeof createAtlasKeeper>[0]['onFailure'],
) {
  let [now, calls] = [0, 0]
  const counted = () => {
    calls += 1
    return make()
  }
  const findAtlas = async () => null
  const keeper = createAtlasKeeper({ findAtlas, make: counted, onFailure, now: () => now })
  const look = async () => {
    await keeper.adopt([])
    await new Promise((resolve) => setImmediate(resolve))
    return calls
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { keeper, look, pass }
}

it('an atlas that cannot be opened though it was made is made again six hours later', async () => {
  const { pass, look } = keeperThat(async () => {}, assert.fail)
  assert.deepEqual([await look(), await look()], [1, 1])
  pass(6 * HOUR_MS)
  assert.deepEqual([await look(), await look()], [2, 2])
})

it('an atlas that could not be made is made again, after a delay that grows', async () => {
  const waits: number[] = []
  const killed = () => Promise.reject(new Error('killed'))
  const { keeper, pass, look } = keeperThat(killed, (_, waitMs) => waits.push(waitMs))
  assert.deepEqual([await look(), await look()], [1, 1])
  pass(MINUTE_MS - 1)
  assert.equal(await look(), 1)
  pass(1)
  assert.deepEqual([await look(), await look()], [2, 2])
  for (let n = 0; n < 10; n++) {
    pass(waits.at(-1) ?? 0)
    await look()
  }
  assert.deepEqual(waits.slice(0, 4).map(toMinutes), [1, 2, 4, 8])
  assert.equal(toMinutes(waits.at(-1) ?? 0), 360)
  keeper.drop()
  const before = waits.length
  assert.equal(await look(), before + 1)
  assert.equal(toMinutes(waits.at(-1) ?? 0), 1)
})

function toMinutes(ms: number): number {
  return ms / MINUTE_MS
}

/** The path of the only atlas. */
function atlasPath(): string {
  const name = fs.readdirSync(folder).find((file) => /^atlas-.*\.bin$/.test(file))
  assert.ok(name)
  return join(folder, name)
}

describe('a pool of byte strings', () => {
  it('stores each once, and finds it again', () => {
    const strings = fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 6_000, size: 'max' })
    fc.assert(
      fc.property(strings, (all) => {
        const pool = new BytePool()
        const places = all.map((string) => pool.add(string))
        for (const [at, string] of all.entries()) {
          const place = places[at] ?? 0
          assert.deepEqual([...pool.bytes.subarray(place, place + string.length)], [...string])
          assert.equal(pool.add(string), place)
        }
        const different = new Map(all.map((string) => [string.join(), string.length]))
        const bytes = [...different.values()].reduce((sum, length) => sum + length, 0)
        assert.equal(pool.bytes.length, bytes)
      }),
      { numRuns: 20 },
    )
  })
})
