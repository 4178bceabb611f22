import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { locate } from '../../lib/geo/answer/locate.ts'
import { removeUnusedCopies } from '../../lib/geo/files/private-copy.ts'
import { replaceFile } from '../../lib/geo/files/replace-file.ts'
import { defaultFiles, OPTIONAL, operatorFiles } from '../../lib/geo/files/source-files.ts'
import { type Library, openLibrary } from '../../lib/geo/library.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { ipv4FromBits } from '../../lib/parts/net/address.ts'
import { mmdbBytes } from '../support/geo-files.ts'
import { recordingLog } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const parent = tempFolder()
const ADDRESS = ipv4FromBits(0x0102_0304)
let count = 0
let directory: string
let file: string
let log: ReturnType<typeof recordingLog>
let time: number
const now = () => time

beforeEach(() => {
  time = 0
  const folder = join(parent, String(count++))
  directory = join(folder, 'geo')
  mkdirSync(directory, { recursive: true })
  file = join(folder, 'mine.mmdb')
  log = recordingLog()
})

const databaseNaming = (city: string) =>
  mmdbBytes({ '1.2.3.0/24': { country: { iso_code: 'DE' }, city: { names: { en: city } } } })
const logged = () => log.events.map(({ level, message }) => `${level} ${message}`)
const cityOf = (library: Library) => locate(library.places(), ADDRESS).place?.city

function open(paths: readonly string[], map = true) {
  const findFiles = () => operatorFiles(directory, paths)
  return openLibrary({ findFiles, map, cacheBits: 8, regionCode: () => undefined, log, now })
}

/** Opens a library of one file. */
function openNaming(city: string, map = true) {
  writeFileSync(file, databaseNaming(city))
  return open([file], map)
}

/** Writes one file, and another, whose path is returned. */
function writeTwo(): string {
  const other = `${file}.other.mmdb`
  writeFileSync(file, databaseNaming('First'))
  writeFileSync(other, databaseNaming('Second'))
  return other
}

/** A changed file is opened once two refreshes in a row have found it the same. */
async function refreshTwice(library: Library): Promise<void> {
  await library.refresh()
  await library.refresh()
}

for (const map of [true, false]) {
  describe(`a library of files that are ${map ? 'mapped' : 'read'}`, () => {
    it('opens a replaced file, and keeps answering meanwhile', async () => {
      const library = await openNaming('Old', map)
      writeFileSync(`${file}.new`, databaseNaming('New town'))
      renameSync(`${file}.new`, file)
      assert.equal(cityOf(library), 'Old')
      await library.refresh()
      assert.equal(cityOf(library), 'Old', 'it may still be being written')
      await library.refresh()
      assert.equal(cityOf(library), 'New town')
      assert.deepEqual(logged(), ['info database replaced'])
      await refreshTwice(library)
      assert.equal(log.events.length, 1)
    })

    it('refuses a bad file with one log line, and keeps the old one', async () => {
      const library = await openNaming('Old', map)
      writeFileSync(file, 'no database')
      for (let n = 0; n < 3; n++) await refreshTwice(library)
      assert.equal(cityOf(library), 'Old')
      assert.equal(library.refused(), 1)
      assert.deepEqual(logged(), ['error database refused'])
      writeFileSync(file, databaseNaming('Better'))
      await refreshTwice(library)
      assert.equal(cityOf(library), 'Better')
    })

    it('survives the truncation and removal of its file', async () => {
      const library = await openNaming('Old', map)
      truncateSync(file, 0)
      assert.equal(cityOf(library), 'Old')
      await refreshTwice(library)
      rmSync(file)
      await refreshTwice(library)
      assert.equal(cityOf(library), 'Old')
    })

    it('waits for a file that is still being written', async () => {
      const library = await openNaming('Old', map)
      const bytes = databaseNaming('A new one')
      for (let n = 1; n <= 5; n++) {
        writeFileSync(file, bytes.subarray(0, Math.floor((bytes.length * n) / 5)))
        await library.refresh()
        assert.equal(cityOf(library), 'Old')
      }
      await library.refresh()
      assert.equal(cityOf(library), 'A new one')
      assert.equal(library.refused(), 0)
    })
  })
}

describe('a library', () => {
  it('gives priority to the files in the order of the list', async () => {
    const other = writeTwo()
    assert.equal(cityOf(await open([file, other])), 'First')
    assert.equal(cityOf(await open([other, file])), 'Second')
  })

  it('does not open if a file is missing or bad, and names the file and the variable', async () => {
    writeFileSync(file, databaseNaming('Good'))
    const missing = join(parent, 'missing.mmdb')
    const message = /^Error: Cannot use the database .*missing\.mmdb: ENOENT.*; .* MERIDIAN_GEO,/
    await assert.rejects(open([missing, file]), message)
    const bad = `${file}.bad.mmdb`
    writeFileSync(bad, databaseNaming('Bad').subarray(0, 100))
    const reason = /^Error: Cannot use the database \S*bad\.mmdb: not a MaxMind DB.* MERIDIAN_GEO,/
    await assert.rejects(open([file, bad]), reason)
    await assert.rejects(open([file, bad], false), reason)
    await assert.rejects(open([]), /no database is usable/)
  })

  it('opens the last usable version of a file that is bad, and warns', async () => {
    await openNaming('Good')
    writeFileSync(file, 'no database')
    const library = await open([file])
    assert.equal(cityOf(library), 'Good')
    const warning = 'warn serving the last usable version of the database'
    assert.deepEqual(logged(), ['error database refused', warning])
    log.events.length = 0
    await refreshTwice(library)
    assert.deepEqual(log.events, [])
    writeFileSync(file, databaseNaming('Better'))
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Better')
  })

  it('does not open without a file that is missing, but goes on if it goes missing later', async () => {
    const library = await openNaming('Good')
    rmSync(file)
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Good')
    await assert.rejects(open([file]), /^Error: Cannot use the database .*ENOENT/)
    log.events.length = 0
  })

  it('tries a refused file again, after pauses that grow to an hour', async () => {
    const library = await openNaming('Old')
    writeFileSync(file, databaseNaming('Newer'))
    // Like a full disk, it prevents the copy.
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')
    await refreshTwice(library)
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const before = library.refused()
      time += minutes * MINUTE_MS - 1
      await refreshTwice(library)
      assert.equal(library.refused(), before)
      time += 1
      await refreshTwice(library)
      assert.equal(library.refused(), before + 1)
      assert.equal(cityOf(library), 'Old')
    }
    rmSync(directory)
    time += HOUR_MS
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Newer')
    const refusals = library.refused()
    time += HOUR_MS
    await refreshTwice(library)
    assert.equal(library.refused(), refusals)
  })

  it('opens the newer of two copies if a process was killed before it removed the older', async () => {
    const aside = `${file}.aside`
    await openNaming('One')
    const [one = ''] = readdirSync(directory)
    renameSync(join(directory, one), aside)
    await openNaming('Three')
    const [three = ''] = readdirSync(directory)
    renameSync(aside, join(directory, one))
    writeFileSync(file, 'no database')
    utimesSync(join(directory, three), 2, 2)
    for (const [city, madeAt] of Object.entries({ One: 3, Three: 1 })) {
      utimesSync(join(directory, one), madeAt, madeAt)
      assert.equal(cityOf(await open([file])), city)
    }
  })

  it('copies a file again if its copy is damaged', async () => {
    await openNaming('Good')
    const [copy = ''] = readdirSync(directory)
    chmodSync(join(directory, copy), 0o600)
    writeFileSync(join(directory, copy), 'damaged')
    assert.equal(cityOf(await open([file])), 'Good')
  })

  it('removes the copies of files that are not configured', async () => {
    const other = writeTwo()
    await open([file, other])
    assert.equal(readdirSync(directory).length, 2)
    await removeUnusedCopies(directory, [other])
    assert.equal(readdirSync(directory).length, 1)
    assert.equal(cityOf(await open([other])), 'Second')
    await removeUnusedCopies(directory, [])
    assert.deepEqual(readdirSync(directory), [])
  })

  it('gives priority to the overlay until it is removed', async () => {
    const library = await openNaming('Public')
    const overlay = OPTIONAL.overlay
    const write = async (path: string) => writeFileSync(path, databaseNaming('Private'))
    await replaceFile(directory, overlay, write)
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Private')
    rmSync(join(directory, overlay))
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Public')
    assert.equal(library.list().length, 1)
  })

  it('keeps one copy of each file that it maps', async () => {
    const library = await openNaming('One')
    // Of different lengths: the times of files may be coarse.
    for (const city of ['Second', 'Third', 'Four']) {
      writeFileSync(file, databaseNaming(city))
      await refreshTwice(library)
      assert.equal(cityOf(library), city)
    }
    assert.equal(readdirSync(directory).length, 1)
    await open([file])
    assert.equal(readdirSync(directory).length, 1)
  })
})

describe('the default files', () => {
  const none = {
    maxmindCity: { path: '/p/city.gz', version: '1' },
    asn: [],
    dbipCity: [{ path: '/p/dbip.mmdb', version: '1' }],
  }
  const names = () => defaultFiles(directory, none).map(({ name }) => name)

  it('are the bundled ones until others are downloaded', () => {
    assert.deepEqual(names(), ['GeoLite2-City', 'dbip', 'asn'])
    const { overlay, ...downloaded } = OPTIONAL
    for (const name of Object.values(downloaded)) writeFileSync(join(directory, name), '')
    assert.deepEqual(names(), [
      'downloaded-GeoLite2-City',
      'downloaded-dbip-city-lite',
      'downloaded-GeoLite2-ASN',
      'downloaded-lists',
    ])
    writeFileSync(join(directory, overlay), '')
    assert.equal(names()[0], 'overlay')
    assert.ok(existsSync(join(directory, overlay)))
  })
})
