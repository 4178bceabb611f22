import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import vm from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { Bundled } from '../../../lib/geo/files/bundled.ts'
import { PREPARED, prepareBundled, prepareRegions } from '../../../lib/geo/files/prepare.ts'
import { openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import { openGeo, prepareGeo } from '../../../lib/geo/open-geo.ts'
import { HOUR_MS } from '../../../lib/parts/durations.ts'
import { silentLog } from '../../../lib/parts/log/log.ts'
import { CITY_RECORDS, mmdbBytes } from '../../support/geo-files.ts'
import { addressOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { as } from '../asn/open-systems.ts'

const parent = tempFolder()
const city = mmdbBytes(CITY_RECORDS)
const quiet = () => {}
const FILES = ['GeoLite2-City.mmdb', 'asn.mmdb', 'prepared.json', 'regions.json']
const ASN4 = '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."\n1.0.4.0,1.0.7.255,38803,Wirefree\n'
const ASN6 = '2001:4860::,2001:4860:ffff:ffff:ffff:ffff:ffff:ffff,15169,Google LLC\n'
let count = 0
let directory: string
let bundled: Bundled

// Collecting garbage takes a quarter of a second each time: this process holds what many tests need.
before(() => {
  mock.method(vm, 'runInNewContext', () => () => {})
  syncBuiltinESMExports()
})
after(() => {
  mock.restoreAll()
  syncBuiltinESMExports()
})

beforeEach(() => {
  const folder = join(parent, String(count++))
  directory = join(folder, 'geo')
  mkdirSync(folder)
  const put = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content)
    return { path: join(folder, name), version: '1.0.2026011512' }
  }
  bundled = {
    maxmindCity: put('city.gz', gzipSync(city)),
    asn: [put('asn4.csv', ASN4), put('asn6.csv', ASN6)],
    dbipCity: [],
  }
})

const pathOf = (name: string) => join(directory, name)
const sizes = () => FILES.map((name) => statSync(pathOf(name)).size)

let prepared: string | undefined

/** Fills the directory with prepared files, which are made once: it takes a second. */
async function putPrepared(): Promise<void> {
  if (prepared === undefined) {
    await prepareBundled(directory, bundled, quiet)
    prepared = directory
  } else cpSync(prepared, directory, { recursive: true, preserveTimestamps: true })
}

function ownerOf(text: string, asn = openMmdb(readFileSync(pathOf(PREPARED.asn)))): unknown {
  const offset = asn.find(addressOf(text))
  return offset === 0 ? null : asn.decode(offset)
}

describe('prepareBundled', () => {
  it('unzips the City file, compiles the ASN file and collects the regions', async () => {
    assert.equal(await prepareBundled(directory, bundled, quiet), 'prepared')
    assert.deepEqual(readdirSync(directory).toSorted(), FILES)
    assert.ok(readFileSync(pathOf(PREPARED.maxmindCity)).equals(city))
    const regions = JSON.parse(readFileSync(pathOf(PREPARED.regions), 'utf8'))
    assert.deepEqual(regions, { 'GB-ENG': 'England', 'US-CA': 'California' })
    assert.deepEqual(ownerOf('1.0.0.255'), as(13335, 'Cloudflare, Inc.'))
    assert.equal(ownerOf('1.0.1.0'), null)
    assert.match(JSON.stringify(ownerOf('1.0.7.255')), /Wirefree/)
    assert.match(JSON.stringify(ownerOf('2001:4860::8888')), /Google LLC/)
    const { metadata } = openMmdb(readFileSync(pathOf(PREPARED.asn)))
    assert.equal(metadata.builtAt, Date.UTC(2026, 0, 15, 12))
  })

  it('reads ASN files that are larger than one block', async () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => {
      const network = `10.${at >>> 8}.${at & 255}`
      return `${network}.0,${network}.255,${at},"Größe, ${at}"`
    })
    writeFileSync(bundled.asn[0]?.path ?? '', rows.join('\n'))
    await prepareBundled(directory, bundled, quiet)
    const asn = openMmdb(readFileSync(pathOf(PREPARED.asn)))
    for (let at = 0; at < rows.length; at++) {
      assert.deepEqual(ownerOf(`10.${at >>> 8}.${at & 255}.9`, asn), as(at, `Größe, ${at}`))
    }
  })

  it('reports steps with a share that grows to 1', async () => {
    const steps = new Map<string, number>()
    await prepareBundled(directory, bundled, (step, share) => {
      assert.ok(share >= (steps.get(step) ?? 0) && share <= 1)
      steps.set(step, share)
    })
    assert.deepEqual([...steps.values()], [1, 1, 1])
  })

  it('does nothing the second time', async () => {
    await putPrepared()
    assert.equal(await prepareBundled(directory, bundled, assert.fail), 'already prepared')
  })

  it('prepares again if the version of a package changes', async () => {
    await putPrepared()
    const newer = { ...bundled, maxmindCity: { ...bundled.maxmindCity, version: '2' } }
    assert.equal(await prepareBundled(directory, newer, quiet), 'prepared')
    assert.equal(await prepareBundled(directory, newer, quiet), 'already prepared')
  })

  for (const name of FILES) {
    it(`makes ${name} again if it is missing or damaged`, async () => {
      await putPrepared()
      const before = sizes()
      rmSync(pathOf(name))
      assert.equal(await prepareBundled(directory, bundled, quiet), 'prepared')
      chmodSync(pathOf(name), 0o644)
      writeFileSync(pathOf(name), 'x')
      assert.equal(await prepareBundled(directory, bundled, quiet), 'prepared')
      assert.deepEqual(sizes(), before)
    })
  }

  it('is safe if it runs three times at once', async () => {
    const all = await Promise.all([1, 2, 3].map(() => prepareBundled(directory, bundled, quiet)))
    assert.ok(all.includes('prepared'))
    assert.deepEqual(readdirSync(directory).toSorted(), FILES)
    assert.equal(await prepareBundled(directory, bundled, quiet), 'already prepared')
    assert.match(JSON.stringify(ownerOf('1.0.0.1')), /Cloudflare/)
  })

  it('fails for a damaged package and leaves no unfinished files', async () => {
    const zipped = gzipSync(city)
    const damages = [zipped.subarray(0, zipped.length / 2), gzipSync('no database'), 'no gzip']
    for (const bytes of damages) {
      writeFileSync(bundled.maxmindCity.path, bytes)
      await assert.rejects(prepareBundled(directory, bundled, quiet))
      assert.deepEqual(readdirSync(directory), [])
    }
  })

  it('names the line of a CSV file that it cannot read', async () => {
    const [file] = bundled.asn
    assert.ok(file)
    for (const line of ['1.0.0.0,1.0.0.255,x,y', 'a,b,1,y', '1.0.0.0', '']) {
      writeFileSync(file.path, `1.0.0.0,1.0.0.255,1,a\n${line}\n`)
      await assert.rejects(prepareBundled(directory, bundled, quiet), /line 2 is not first,last/)
    }
  })
})

describe('prepareRegions', () => {
  it('collects only the regions, once', async () => {
    assert.equal(await prepareRegions(directory, bundled, quiet), 'prepared')
    assert.deepEqual(readdirSync(directory), [PREPARED.regions])
    assert.equal(await prepareRegions(directory, bundled, assert.fail), 'already prepared')
  })
})

describe('prepareGeo', () => {
  it('removes what killed processes left, even if everything is prepared', async (t) => {
    mkdirSync(directory)
    writeFileSync(pathOf(PREPARED.regions), '{}')
    writeFileSync(pathOf('.partial-0a1b2c3d-atlas-1.bin'), 'half')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 7 * HOUR_MS })
    await prepareGeo({ directory, files: [], onProgress: assert.fail })
    assert.deepEqual(readdirSync(directory), [PREPARED.regions])
  })
})

describe('openGeo', () => {
  it('refuses an unusable file before it prepares anything', async () => {
    const database = join(parent, 'page.mmdb')
    writeFileSync(database, '<html>')
    const sources = { directory, files: [database], onProgress: assert.fail }
    const opening = openGeo({ ...sources, map: false, log: silentLog })
    await assert.rejects(opening, /^Error: Cannot use the database .*page\.mmdb: /)
    assert.ok(!existsSync(pathOf(PREPARED.regions)))
  })

  it('later removes files that were too new to be abandoned at the start', async (t) => {
    mkdirSync(directory)
    const [partial, database] = ['.partial-0a1b2c3d-atlas-1.bin', 'City.mmdb'].map(pathOf)
    assert.ok(partial && database)
    writeFileSync(pathOf(PREPARED.regions), '{}')
    writeFileSync(partial, 'half')
    writeFileSync(database, city)
    t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.now() })
    const sources = { directory, files: [database], onProgress: assert.fail }
    using _library = await openGeo({ ...sources, map: false, log: silentLog })
    assert.ok(existsSync(partial))
    t.mock.timers.tick(7 * HOUR_MS)
    assert.ok(!existsSync(partial))
  })
})
