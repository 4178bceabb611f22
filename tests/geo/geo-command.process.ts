import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openDatabase } from '../../lib/geo/database.ts'
import { OPTIONAL } from '../../lib/geo/files/source-files.ts'
import { createMmdbWriter } from '../../lib/geo/mmdb/writer.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'
import { inherited, RUNTIME } from '../support/runtime.ts'
import { type FileServer, openFileServer } from './download/file-server.ts'
import { pathOf, publishedFiles } from './network-lists/published.ts'

const BUILT_AT = Date.UTC(2026, 2, 1)
const TITLES = 'Name Provider Type IP Records Built Size File'

let folder = ''
let geo = ''
let operatorFile = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-geo-'))
  geo = join(folder, 'geo')
  operatorFile = join(folder, 'Mine.mmdb')
  mkdirSync(geo)
  writeFileSync(join(geo, 'regions.json'), '{"DE-BE":"State of Berlin"}')
  writeFileSync(operatorFile, database(['10.0.0.0/8', '11.0.0.0/8']))
})
afterEach(() => rmSync(folder, { recursive: true }))

function database(networks: readonly string[]): Uint8Array {
  const writer = createMmdbWriter({
    databaseType: 'GeoLite2-City',
    description: 'Test',
    builtAt: BUILT_AT,
    ipVersion: 4,
  })
  for (const name of networks) {
    const network = parseNetwork(name)
    assert.ok(network)
    writer.insert(network, { country: { iso_code: 'DE' }, city: { names: { en: name } } })
  }
  return writer.toBytes()
}

type Settings = Readonly<Record<string, string>>

function start(args: readonly string[], settings: Settings = {}): ChildProcess {
  const [program, ...options] = RUNTIME
  return spawn(program, [...options, 'scripts/geo.ts', ...args], {
    env: {
      ...inherited(),
      MERIDIAN_DATA_DIR: folder,
      MERIDIAN_GEO: operatorFile,
      MERIDIAN_LISTS: 'none',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function geoCommand(args: readonly string[], settings?: Settings) {
  const child = start(args, settings)
  assert.ok(child.stdout && child.stderr)
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await once(child, 'close')
  const [stdout, stderr] = await output
  return { code, stdout, stderr, rows: stdout.trimEnd().split('\n').map(oneSpaced) }
}

function oneSpaced(line: string): string {
  return line.replaceAll(/ +/g, ' ')
}

const MINE = /^Mine maxmind GeoLite2-City 4 2 2026-03-01 0\.\d kB .*\/Mine\.mmdb$/

describe('npm run geo', () => {
  it('lists the databases that a server uses', async () => {
    const { code, rows, stderr } = await geoCommand([])
    assert.equal(code, 0)
    assert.equal(rows[0], TITLES)
    assert.match(rows[1] ?? '', MINE)
    assert.equal(rows.length, 2)
    assert.equal(stderr, '')
  })

  it('makes the data folder for its owner only', async () => {
    const dataDir = join(folder, 'data')
    const { code } = await geoCommand([], { MERIDIAN_DATA_DIR: dataDir })
    assert.equal(code, 0)
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  })

  it('reports why a file would be refused, and exits with 1', async () => {
    writeFileSync(join(folder, 'bad.mmdb'), 'text')
    const files = { MERIDIAN_GEO: `${join(folder, 'bad.mmdb')},${operatorFile}` }
    const { code, rows, stderr } = await geoCommand([], files)
    assert.equal(code, 1)
    assert.match(rows[1] ?? '', MINE)
    assert.match(stderr, /^Cannot use the database .*bad\.mmdb: not a MaxMind DB: .*\n$/)
  })

  it('shows its usage', async () => {
    const { code, stdout, stderr } = await geoCommand(['--help'])
    assert.equal(code, 0)
    assert.match(stdout, /^Usage: npm run --silent geo -- /)
    assert.equal(stderr, '')
  })

  for (const args of [
    ['--upload'],
    ['file.csv'],
    ['--overlay'],
    ['--overlay=a', '--remove-overlay'],
    ['--json', '--update'],
    ['--json', '--ignored'],
  ]) {
    it(`refuses ${args.join(' ')} with its usage`, async () => {
      const { code, stdout, stderr } = await geoCommand(args)
      assert.equal(code, 2)
      assert.match(stderr, /\n\nUsage: npm run --silent geo -- /)
      assert.equal(stdout, '')
    })
  }
})

describe('npm run geo -- --overlay', () => {
  const csv = () => join(folder, 'own.csv')

  it('compiles the rows to a file that overrides all others', async () => {
    writeFileSync(csv(), '# Office\n10.1.0.0/16,country=DE,region=DE-BE,city=Berlin\n')
    const { code, rows, stderr } = await geoCommand(['--overlay', csv()])
    assert.equal(code, 0)
    assert.match(rows[1] ?? '', /^overlay overlay Meridian-Overlay 6 1 20\d\d-\d\d-\d\d /)
    assert.match(rows[2] ?? '', MINE)
    assert.match(stderr, /^Compiled .*; a running server notices within a few seconds\n$/)

    const path = join(geo, OPTIONAL.overlay)
    const overlay = await openDatabase(path, { map: false, regionCode: () => undefined })
    const address = parseAddress('10.1.2.3')
    assert.ok(address)
    const { place } = overlay.find(address)
    assert.equal(place?.city, 'Berlin')
    assert.deepEqual(place?.region, { code: 'DE-BE', name: 'State of Berlin' })
  })

  it('keeps the existing overlay if a line is bad, and names the line', async () => {
    writeFileSync(csv(), '10.1.0.0/16,country=DE\n')
    await geoCommand(['--overlay', csv()])
    const before = readFileSync(join(geo, OPTIONAL.overlay))
    writeFileSync(csv(), '10.1.0.0/16,country=DE\n10.2.0.0/16,country=Germany\n')
    const { code, stdout, stderr } = await geoCommand(['--overlay', csv()])
    assert.equal(code, 1)
    assert.equal(
      stderr,
      'Cannot read the overlay: line 2: country must be an ISO 3166-1 code such as DE\n',
    )
    assert.equal(stdout, '')
    assert.deepEqual(readFileSync(join(geo, OPTIONAL.overlay)), before)
    assert.deepEqual(readdirSync(geo), [OPTIONAL.overlay, 'regions.json'])
  })

  it('names the file that it cannot read', async () => {
    const { code, stderr } = await geoCommand(['--overlay', csv()])
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot read the overlay: ENOENT: .*own\.csv'\n$/)
  })

  it('is undone by --remove-overlay', async () => {
    writeFileSync(csv(), '10.1.0.0/16,country=DE\n')
    await geoCommand(['--overlay', csv()])
    const removed = await geoCommand(['--remove-overlay'])
    assert.equal(removed.code, 0)
    assert.equal(removed.rows.length, 2)
    assert.match(removed.stderr, /^Removed .*overlay\.mmdb; a running server/)
    const again = await geoCommand(['--remove-overlay'])
    assert.equal(again.code, 0)
    assert.equal(again.stderr, 'There is no overlay\n')
  })
})

describe('npm run geo -- --download', () => {
  let server: FileServer
  beforeEach(async () => {
    server = await openFileServer()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  /** This month's and last month's: the month may end while the test runs. */
  function serve(mmdb: Uint8Array): void {
    const now = new Date()
    for (const ago of [0, 1]) {
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago))
      const url = `/free/dbip-city-lite-${month.toISOString().slice(0, 7)}.mmdb.gz`
      server.files.set(url, { bytes: gzipSync(mmdb), etag: '"dbip"' })
    }
  }
  const settings = () => ({ MERIDIAN_DBIP_URL: server.origin })
  const downloaded = () => readFileSync(join(geo, OPTIONAL.downloadedDbipCity))

  it("downloads DB-IP's file and reports what MaxMind's needs", async () => {
    const mmdb = database(['12.0.0.0/8'])
    serve(mmdb)
    const { code, rows, stderr } = await geoCommand(['--download'], settings())
    assert.equal(code, 0)
    assert.match(rows[1] ?? '', MINE)
    const maxmind = 'MERIDIAN_MAXMIND_ACCOUNT_ID and MERIDIAN_MAXMIND_LICENSE_KEY'
    assert.ok(stderr.includes(`MaxMind: set ${maxmind} to download`), stderr)
    assert.match(stderr, /^DB-IP City Lite: downloaded, built 2026-03-01; a running server/m)
    assert.match(stderr, /^MERIDIAN_GEO is set: a server does not use the downloaded files/m)
    assert.deepEqual(downloaded(), Buffer.from(mmdb))
  })

  it('exits with 1 if a download fails, and still lists the databases', async () => {
    const { code, rows, stderr } = await geoCommand(['--download'], settings())
    assert.equal(code, 1)
    assert.match(rows[1] ?? '', MINE)
    assert.match(stderr, /^DB-IP City Lite: Cannot download http.*: the server answered 404/m)
  })

  it('downloads the free lists from a mirror, compiles them and shows their age', async () => {
    serve(database(['12.0.0.0/8']))
    for (const [path, file] of publishedFiles(3)) server.files.set(path, file)
    const mirrored = { ...settings(), MERIDIAN_LISTS: server.origin }
    const { code, rows, stderr } = await geoCommand(['--download'], mirrored)
    assert.equal(code, 0)
    assert.match(stderr, /^Amazon AWS: downloaded, 1800 networks$/m)
    assert.match(stderr, /^Compiled the lists; a running server notices within a few seconds$/m)
    assert.match(rows[2] ?? '', /^downloaded-lists lists Meridian-Lists 6 \d+ 20\d\d-.*\.mmdb$/)
    assert.equal(rows[4], 'List Networks Checked Problem')
    assert.match(rows[5] ?? '', /^Amazon AWS 1,800 20\d\d-\d\d-\d\d$/)
    const [list] = JSON.parse((await geoCommand(['--json'], mirrored)).stdout).lists
    assert.equal(new Date(list.checkedAt).toISOString(), list.checkedAt)
    assert.deepEqual(
      { ...list, checkedAt: '' },
      { name: 'Amazon AWS', networks: 1800, checkedAt: '' },
    )

    server.files.set(pathOf('tor'), { bytes: Buffer.from('185.1.2.3\n') })
    const refused = await geoCommand(['--download'], mirrored)
    assert.equal(refused.code, 1)
    const reason = 'it has 1 networks; at least 100 are expected'
    assert.match(refused.stderr, new RegExp(`^Tor exits: ${reason}$`, 'm'))
    const shown = refused.rows.find((row) => row.startsWith('Tor exits'))
    assert.match(shown ?? '', new RegExp(`^Tor exits 1,200 20\\d\\d-\\d\\d-\\d\\d ${reason}$`))
  })

  it('accepts a list that has shrunk only with --accept-smaller', async () => {
    serve(database(['12.0.0.0/8']))
    for (const [path, file] of publishedFiles(3)) server.files.set(path, file)
    const mirrored = { ...settings(), MERIDIAN_LISTS: server.origin }
    await geoCommand(['--download'], mirrored)
    const few = Array.from({ length: 500 }, (_, n) => `185.1.${n >> 8}.${n & 255}\n`).join('')
    server.files.set(pathOf('tor'), { bytes: Buffer.from(few) })
    const refused = await geoCommand(['--download'], mirrored)
    assert.match(
      refused.stderr,
      /^Tor exits: .*less than half of the 1200 before; --accept-smaller/m,
    )
    const { code, stderr } = await geoCommand(['--download', '--accept-smaller'], mirrored)
    assert.equal(code, 0)
    assert.match(stderr, /^Tor exits: downloaded, 500 networks$/m)
  })

  it('resumes a download that was killed', async () => {
    const mmdb = database(
      Array.from({ length: 5_000 }, (_, at) => `20.${at >> 8}.${at & 255}.0/24`),
    )
    serve(mmdb)
    server.silentAfter = 20_000
    const killed = start(['--download'], settings())
    assert.ok(killed.stderr)
    for await (const shown of killed.stderr) {
      if (String(shown).includes('Download DB-IP City Lite')) killed.kill('SIGKILL')
    }
    server.silentAfter = Number.POSITIVE_INFINITY
    const { code } = await geoCommand(['--download'], settings())
    assert.equal(code, 0)
    assert.match(server.requests.at(-1)?.headers.range ?? '', /^bytes=[1-9]\d*-$/)
    assert.deepEqual(downloaded(), Buffer.from(mmdb))
  })
})
