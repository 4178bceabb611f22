import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { ipv4FromBits } from '../../../lib/address.ts'
import { replaceFile } from '../../../lib/geo/file-swap.ts'
import { type Library, openLibrary } from '../../../lib/geo/library.ts'
import { defaultFiles, OPTIONAL, operatorFiles } from '../../../lib/geo/source-files.ts'
import { mmdbBytes } from '../../geo-files.ts'
import { recordingLog } from '../../helpers.ts'
import { tempFolder } from '../../temp-folder.ts'

const parent = tempFolder()
const ADDRESS = ipv4FromBits(0x0102_0304)
let count = 0
let directory: string
let file: string
let log: ReturnType<typeof recordingLog>

beforeEach(() => {
  const folder = join(parent, String(count++))
  directory = join(folder, 'geo')
  mkdirSync(directory, { recursive: true })
  file = join(folder, 'mine.mmdb')
  log = recordingLog()
})

const naming = (city: string) =>
  mmdbBytes({ '1.2.3.0/24': { country: { iso_code: 'DE' }, city: { names: { en: city } } } })
const cityOf = (library: Library) => library.locate(ADDRESS).place?.city

function open(paths: readonly string[], map = true) {
  const findFiles = () => operatorFiles(directory, paths)
  return openLibrary({ findFiles, map, cacheBits: 8, regionCode: () => undefined, log })
}

/** A changed file is taken over when it is seen unchanged for the second time. */
async function refreshTwice(library: Library): Promise<void> {
  await library.refresh()
  await library.refresh()
}

for (const map of [true, false]) {
  describe(`a library of files that are ${map ? 'mapped' : 'read'}`, () => {
    it('takes over a file that is replaced, and keeps answering meanwhile', async () => {
      writeFileSync(file, naming('Old'))
      const library = await open([file], map)
      writeFileSync(`${file}.new`, naming('New town'))
      renameSync(`${file}.new`, file)
      assert.equal(cityOf(library), 'Old')
      await library.refresh()
      assert.equal(cityOf(library), 'Old', 'it may still be written')
      await library.refresh()
      assert.equal(cityOf(library), 'New town')
      assert.deepEqual(
        log.events.map(({ level, message }) => [level, message]),
        [['info', 'database replaced']],
      )
      await refreshTwice(library)
      assert.equal(log.events.length, 1)
    })

    it('refuses a bad file with one line, and keeps the old one', async () => {
      writeFileSync(file, naming('Old'))
      const library = await open([file], map)
      writeFileSync(file, 'no database')
      for (let n = 0; n < 3; n++) await refreshTwice(library)
      assert.equal(cityOf(library), 'Old')
      assert.equal(library.refused(), 1)
      assert.deepEqual(
        log.events.map(({ level, message }) => [level, message]),
        [['error', 'database refused']],
      )
      writeFileSync(file, naming('Better'))
      await refreshTwice(library)
      assert.equal(cityOf(library), 'Better')
    })

    it('survives that its file is truncated and removed', async () => {
      writeFileSync(file, naming('Old'))
      const library = await open([file], map)
      truncateSync(file, 0)
      assert.equal(cityOf(library), 'Old')
      await refreshTwice(library)
      rmSync(file)
      await refreshTwice(library)
      assert.equal(cityOf(library), 'Old')
    })

    it('waits for a file that is still being written', async () => {
      writeFileSync(file, naming('Old'))
      const library = await open([file], map)
      const bytes = naming('A new one')
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
  it('asks the files in the order in which they are given', async () => {
    const other = `${file}.other.mmdb`
    writeFileSync(file, naming('First'))
    writeFileSync(other, naming('Second'))
    assert.equal(cityOf(await open([file, other])), 'First')
    assert.equal(cityOf(await open([other, file])), 'Second')
  })

  it('opens with the files that are usable, and says which are not', async () => {
    writeFileSync(file, naming('Good'))
    const library = await open([join(parent, 'missing.mmdb'), file])
    assert.equal(cityOf(library), 'Good')
    assert.equal(library.list().length, 1)
    assert.equal(log.events.length, 1)
    assert.match(JSON.stringify(log.events), /missing\.mmdb.*ENOENT/)
  })

  it('does not open without any', async () => {
    await assert.rejects(open([join(parent, 'missing.mmdb')]), /no database is usable/)
    await assert.rejects(open([]), /no database is usable/)
  })

  it('lets the overlay come first, and go', async () => {
    writeFileSync(file, naming('Public'))
    const library = await open([file])
    const overlay = OPTIONAL.overlay
    await replaceFile(directory, overlay, async (path) => writeFileSync(path, naming('Private')))
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Private')
    rmSync(join(directory, overlay))
    await refreshTwice(library)
    assert.equal(cityOf(library), 'Public')
    assert.equal(library.list().length, 1)
  })

  it('keeps one copy of each file that it maps', async () => {
    writeFileSync(file, naming('One'))
    const library = await open([file])
    for (const city of ['Two', 'Three', 'Four']) {
      writeFileSync(file, naming(city))
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

  it('are the bundled ones, until others are downloaded', () => {
    assert.deepEqual(names(), ['GeoLite2-City', 'dbip', 'asn'])
    const { overlay, ...downloaded } = OPTIONAL
    for (const name of Object.values(downloaded)) writeFileSync(join(directory, name), '')
    assert.deepEqual(names(), [
      'downloaded-GeoLite2-City',
      'downloaded-dbip-city-lite',
      'downloaded-GeoLite2-ASN',
    ])
    writeFileSync(join(directory, overlay), '')
    assert.equal(names()[0], 'overlay')
    assert.ok(existsSync(join(directory, overlay)))
  })
})
