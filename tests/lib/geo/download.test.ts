import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'
import { ipv4FromBits } from '../../../lib/address.ts'
import { type DownloadOptions, downloadAll } from '../../../lib/geo/download.ts'
import { findSources } from '../../../lib/geo/download-sources.ts'
import { createMmdbWriter } from '../../../lib/geo/mmdb-writer.ts'
import { OPTIONAL } from '../../../lib/geo/source-files.ts'
import { type FileServer, openFileServer, type ServedFile } from './file-server.ts'

const NOW = Date.UTC(2026, 10, 20)
const MARCH = Date.UTC(2026, 2, 1)
const APRIL = Date.UTC(2026, 3, 1)
const MARCH_TIME = 'Mon, 02 Mar 2026 10:00:00 GMT'
const APRIL_TIME = 'Thu, 02 Apr 2026 10:00:00 GMT'

const CITY = '/geoip/databases/GeoLite2-City/download?suffix=tar.gz'
const ASN = '/geoip/databases/GeoLite2-ASN/download?suffix=tar.gz'
const DBIP = '/free/dbip-city-lite-2026-11.mmdb.gz'
const DBIP_BEFORE = '/free/dbip-city-lite-2026-10.mmdb.gz'
const CITY_ARCHIVE = '.download-GeoLite2-City.tar.gz'

const ACCOUNT = '123456'
const LICENSE_KEY = ['made', 'up', 'key'].join('-')
const AUTHORIZATION = `Basic ${Buffer.from(`${ACCOUNT}:${LICENSE_KEY}`).toString('base64')}`

let folder = ''
let geo = ''
let server: FileServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-download-'))
  geo = join(folder, 'geo')
  server = await openFileServer()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const inGeo = (name: string) => join(geo, name)
const installed = (name: keyof typeof OPTIONAL) => readFileSync(inGeo(OPTIONAL[name]))

function download(options: Partial<DownloadOptions> = {}) {
  return downloadAll(geo, {
    maxmindUrl: server.origin,
    maxmindAccountId: ACCOUNT,
    maxmindLicenseKey: LICENSE_KEY,
    dbipUrl: server.origin,
    now: NOW,
    onProgress: () => {},
    ...options,
  })
}

/** What became of one file, in one line. */
async function outcome(name: string, options?: Partial<DownloadOptions>): Promise<string> {
  const result = (await download(options)).find((one) => one.name === name)
  assert.ok(result, name)
  return result.outcome === 'failed' ? result.reason : result.outcome
}

/** A database that does not shrink when it is zipped. */
function database(builtAt: number, type = 'GeoLite2-City'): Uint8Array {
  const writer = createMmdbWriter({
    databaseType: type,
    description: 'Test',
    builtAt,
    ipVersion: 6,
  })
  for (let at = 0; at < 1_500; at++) {
    const city = createHash('sha512').update(`${builtAt}-${at}`).digest('base64')
    const address = ipv4FromBits((at << 16) >>> 0)
    writer.insert(
      { address, prefix: 16 },
      { country: { iso_code: 'DE' }, city: { names: { en: city } } },
    )
  }
  return writer.toBytes()
}

interface Entries {
  readonly [path: string]: Uint8Array | string
}

/** A gzipped tar file of what MaxMind puts into one. */
function tarOf(entries: Entries): Buffer {
  const source = mkdtempSync(join(folder, 'tar-'))
  for (const [path, bytes] of Object.entries(entries)) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), bytes)
  }
  const file = join(source, 'archive.tar.gz')
  create({ file, cwd: source, gzip: true, sync: true }, [
    ...new Set(Object.keys(entries).map((path) => path.split('/')[0] ?? '')),
  ])
  return readFileSync(file)
}

function maxmindTar(mmdb: Uint8Array | string, name = 'GeoLite2-City'): Buffer {
  return tarOf({
    [`${name}_20260320/COPYRIGHT.txt`]: 'Copyright',
    [`${name}_20260320/LICENSE.txt`]: 'License',
    [`${name}_20260320/${name}.mmdb`]: mmdb,
  })
}

/** Serves an archive at a URL of MaxMind's with its checksum beside it. */
function serveTar(url: string, file: ServedFile): void {
  server.files.set(url, file)
  const hex = createHash('sha256').update(file.bytes).digest('hex')
  server.files.set(`${url}.sha256`, { bytes: Buffer.from(`${hex}  ${basename(url)}\n`) })
}

const march = database(MARCH)
const april = database(APRIL)

/** Serves everything. */
function serveAll(mmdb = march, lastModified = MARCH_TIME): void {
  serveTar(CITY, { bytes: maxmindTar(mmdb), etag: '"city"', lastModified })
  serveTar(ASN, { bytes: maxmindTar(mmdb, 'GeoLite2-ASN'), etag: '"asn"', lastModified })
  server.files.set(DBIP, { bytes: gzipSync(mmdb), etag: '"dbip"', lastModified })
}

/** Downloads until 40 % of MaxMind's City archive is on disk, then loses the connection. */
async function interrupt(): Promise<string> {
  const length = server.files.get(CITY)?.bytes.length ?? 0
  server.silentAfter = Math.ceil(length * 0.4)
  const onProgress = (_: string, share: number) => {
    if (share >= 0.4) server.cut()
  }
  const reason = await outcome('GeoLite2 City', { onProgress })
  server.silentAfter = Number.POSITIVE_INFINITY
  server.asked.length = 0
  assert.equal(statSync(inGeo(CITY_ARCHIVE)).size, Math.ceil(length * 0.4))
  return reason
}

const askedFor = (url: string) => server.asked.filter((asked) => asked.url === url)
const leftovers = () => readdirSync(geo).filter((name) => name.startsWith('.'))

describe('a first download', () => {
  it('installs the files of both providers and leaves nothing else', async () => {
    serveAll()
    const shares = new Map<string, number>()
    const results = await download({ onProgress: (step, share) => shares.set(step, share) })
    assert.deepEqual(results, [
      { name: 'GeoLite2 City', outcome: 'installed', builtAt: MARCH },
      { name: 'GeoLite2 ASN', outcome: 'installed', builtAt: MARCH },
      { name: 'DB-IP City Lite', outcome: 'installed', builtAt: MARCH },
    ])
    const { overlay: _, ...downloaded } = OPTIONAL
    assert.deepEqual(readdirSync(geo).toSorted(), Object.values(downloaded).toSorted())
    for (const name of Object.values(downloaded)) {
      assert.deepEqual(readFileSync(inGeo(name)), Buffer.from(march))
      assert.equal(statSync(inGeo(name)).mode & 0o777, 0o444)
    }
    assert.deepEqual(
      [...shares],
      [
        ['Download GeoLite2 City', 1],
        ['Download GeoLite2 ASN', 1],
        ['Download DB-IP City Lite', 1],
      ],
    )
  })

  it('shows the account to MaxMind only', async () => {
    serveAll()
    await download()
    for (const { url, headers } of server.asked) {
      assert.equal(headers.authorization, url === DBIP ? undefined : AUTHORIZATION, url)
    }
  })

  it('asks MaxMind for nothing without an account', async () => {
    serveAll()
    const results = await download({ maxmindLicenseKey: undefined })
    assert.deepEqual(
      results.map(({ name }) => name),
      ['DB-IP City Lite'],
    )
    assert.deepEqual(
      server.asked.map(({ url }) => url),
      [DBIP],
    )
  })

  it('goes on with the other files when one fails', async () => {
    serveAll()
    server.intercept = ({ url }, response) => {
      if (url === CITY) response.writeHead(500).end()
      return url === CITY
    }
    const results = await download()
    assert.deepEqual(
      results.map((result) => result.outcome),
      ['failed', 'installed', 'installed'],
    )
  })

  it('names the URL and the reason where there is no server', async () => {
    const gone = await openFileServer()
    await gone[Symbol.asyncDispose]()
    const { origin: dbipUrl } = gone
    const reason = await outcome('DB-IP City Lite', { dbipUrl })
    assert.match(reason, /^Cannot download http:.*mmdb\.gz: connect ECONNREFUSED 127\.0\.0\.1/)
  })

  it('refuses a file that is encoded on its way', async () => {
    serveAll()
    server.intercept = ({ url }, response) => {
      if (url === DBIP) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(march))
      return url === DBIP
    }
    assert.match(await outcome('DB-IP City Lite'), /in the encoding "gzip"$/)
  })
})

describe('an interrupted download', () => {
  it('is continued where it was', async () => {
    serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"', lastModified: MARCH_TIME })
    assert.match(await interrupt(), /^Cannot download .*; run it again, and it continues$/)
    const { size } = statSync(inGeo(CITY_ARCHIVE))
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    const [asked, ...more] = askedFor(CITY)
    assert.equal(asked?.headers.range, `bytes=${size}-`)
    assert.equal(asked?.headers['if-range'], '"city"')
    assert.deepEqual(more, [])
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(march))
    assert.equal(statSync(inGeo(OPTIONAL.downloadedMaxmindCity)).mtimeMs, Date.parse(MARCH_TIME))
    assert.deepEqual(leftovers(), [])
  })

  it('is continued by the time of the file where the ETag is weak or missing', async () => {
    for (const version of [{ etag: 'W/"city"' }, {}]) {
      serveTar(CITY, { bytes: maxmindTar(march), lastModified: MARCH_TIME, ...version })
      await interrupt()
      assert.equal(await outcome('GeoLite2 City'), 'installed')
      const [asked, ...more] = askedFor(CITY)
      assert.equal(asked?.headers['if-range'], MARCH_TIME)
      assert.deepEqual(more, [])
      rmSync(inGeo(OPTIONAL.downloadedMaxmindCity))
    }
  })

  it('starts over where the server has neither', async () => {
    serveTar(CITY, { bytes: maxmindTar(march) })
    await interrupt()
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.deepEqual(
      askedFor(CITY).map(({ headers }) => headers.range),
      [undefined],
    )
  })

  it('starts over where the file has changed', async () => {
    serveTar(CITY, { bytes: maxmindTar(march), etag: '"old"' })
    await interrupt()
    serveTar(CITY, { bytes: maxmindTar(april), etag: '"new"' })
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(askedFor(CITY)[0]?.headers['if-range'], '"old"')
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('starts over where the server sends a part of another version', async () => {
    serveTar(CITY, { bytes: maxmindTar(march), etag: '"old"' })
    await interrupt()
    serveTar(CITY, { bytes: maxmindTar(april), etag: '"new"' })
    server.intercept = ({ headers }) => {
      delete headers['if-range']
      return false
    }
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.deepEqual(
      askedFor(CITY).map(({ headers }) => headers.range !== undefined),
      [true, false],
    )
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('starts over where the server has no more bytes', async () => {
    serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    await interrupt()
    truncateSync(inGeo(CITY_ARCHIVE), 10_000_000)
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(askedFor(CITY).length, 2)
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(march))
  })

  it('starts over where nobody knows what was downloaded', async () => {
    serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    await interrupt()
    writeFileSync(inGeo(`${CITY_ARCHIVE}.json`), '{"url":')
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(askedFor(CITY)[0]?.headers.range, undefined)
  })

  it('is told from a silent server, and continued', async () => {
    const bytes = maxmindTar(march)
    serveTar(CITY, { bytes, etag: '"city"' })
    server.silentAfter = 50_000
    assert.match(
      await outcome('GeoLite2 City', { idleMs: 100 }),
      /: no byte came for 0\.1 s; run it again, and it continues$/,
    )
    server.silentAfter = Number.POSITIVE_INFINITY
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(askedFor(CITY).at(-1)?.headers.range, 'bytes=50000-')
  })
})

describe('a damaged archive', () => {
  it('is deleted where its checksum does not fit, and fetched whole the next time', async () => {
    serveAll()
    server.files.set(`${CITY}.sha256`, { bytes: Buffer.from(`${'0'.repeat(64)}  x\n`) })
    assert.equal(
      await outcome('GeoLite2 City'),
      'Cannot use GeoLite2-City.tar.gz: its SHA-256 is not the published one; ' +
        'it is deleted, run it again',
    )
    assert.equal(existsSync(inGeo(OPTIONAL.downloadedMaxmindCity)), false)
    assert.deepEqual(leftovers(), [])
    serveAll()
    server.asked.length = 0
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(askedFor(CITY)[0]?.headers.range, undefined)
  })

  it('is not asked for where the checksum is none', async () => {
    serveAll()
    server.files.set(`${CITY}.sha256`, { bytes: Buffer.from('<html>') })
    assert.match(await outcome('GeoLite2 City'), /: the answer is no SHA-256$/)
    assert.deepEqual(askedFor(CITY), [])
  })

  it('is refused for a single flipped byte in a gzip file', async () => {
    const zipped = gzipSync(march)
    const crc = zipped.length - 8
    const length = zipped.length - 4
    for (const at of [1_000, zipped.length >> 1, crc, length]) {
      const bytes = Buffer.from(zipped)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      server.files.set(DBIP, { bytes, etag: `"${at}"` })
      assert.match(
        await outcome('DB-IP City Lite'),
        /^Cannot use dbip-city-lite\.mmdb\.gz: .*; it is deleted, run it again$/,
        `byte ${at}`,
      )
    }
    assert.deepEqual(readdirSync(geo), [])
  })

  it('is refused where its end is missing', async () => {
    server.files.set(DBIP, { bytes: gzipSync(march).subarray(0, -20) })
    assert.match(await outcome('DB-IP City Lite'), /unexpected end of file/)
    serveTar(CITY, { bytes: maxmindTar(march).subarray(0, -20) })
    assert.match(await outcome('GeoLite2 City'), /^Cannot use GeoLite2-City\.tar\.gz: /)
    assert.deepEqual(readdirSync(geo), [])
  })
})

describe('an archive without a usable database', () => {
  const archives: readonly (readonly [what: string, entries: Entries, reason: RegExp])[] = [
    ['text', { 'a/b.mmdb': 'text' }, /not a MaxMind DB/],
    ['no .mmdb file', { 'a/b.txt': 'text' }, /the archive holds 0 \.mmdb files instead of one/],
    ['two of them', { 'a/b.mmdb': march, 'a/c.mmdb': march }, /holds 2 \.mmdb files/],
    ['half of one', { 'a/b.mmdb': march.subarray(0, march.length >> 1) }, /not a MaxMind DB/],
  ]
  for (const [what, entries, reason] of archives) {
    it(`is refused: ${what}`, async () => {
      serveAll()
      await download()
      serveTar(CITY, { bytes: tarOf(entries), etag: '"bad"', lastModified: APRIL_TIME })
      assert.match(await outcome('GeoLite2 City'), reason)
      assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(march))
      assert.deepEqual(leftovers(), [])
    })
  }

  it('is refused: no tar file, no gzip file', async () => {
    serveTar(CITY, { bytes: Buffer.from('<html>'.repeat(1_000)) })
    server.files.set(DBIP, { bytes: Buffer.from('<html>'.repeat(1_000)) })
    assert.match(await outcome('GeoLite2 City'), /^Cannot use GeoLite2-City\.tar\.gz: /)
    assert.match(await outcome('DB-IP City Lite'), /incorrect header check/)
    assert.deepEqual(readdirSync(geo), [])
  })

  it('is refused: records of another kind', async () => {
    const writer = createMmdbWriter({
      databaseType: 'GeoLite2-City',
      description: 'Test',
      builtAt: APRIL,
      ipVersion: 4,
    })
    writer.insert({ address: ipv4FromBits(0), prefix: 1 }, { colour: 'red' })
    server.files.set(DBIP, { bytes: gzipSync(writer.toBytes()) })
    assert.match(await outcome('DB-IP City Lite'), /records of an unknown layout/)
  })
})

describe('the path of a database in an archive', () => {
  it('is not where it is written', async () => {
    const evil = join(folder, 'evil.mmdb')
    const file = join(folder, 'evil.tar.gz')
    writeFileSync(evil, march)
    create({ file, gzip: true, sync: true, preservePaths: true }, [evil])
    rmSync(evil)
    serveTar(CITY, { bytes: readFileSync(file) })
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(existsSync(evil), false)
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(march))
  })
})

describe("DB-IP's file of the month", () => {
  it('is that of the month before until there is one', async () => {
    server.files.set(DBIP_BEFORE, { bytes: gzipSync(march) })
    assert.equal(await outcome('DB-IP City Lite'), 'installed')
    assert.equal(askedFor(DBIP).length, 1)
  })

  it('is named by the month in UTC', () => {
    const providers = { maxmindUrl: '', maxmindAccountId: '', dbipUrl: 'https://db' }
    const months = (now: number) => {
      const sources = findSources({ ...providers, maxmindLicenseKey: undefined }, now)
      return sources[0]?.urls.map((url) => /\d{4}-\d{2}/.exec(url)?.[0])
    }
    assert.deepEqual(months(Date.UTC(2027, 0, 1)), ['2027-01', '2026-12'])
    assert.deepEqual(months(Date.UTC(2026, 2, 31, 23, 59, 59)), ['2026-03', '2026-02'])
  })

  it('is missing where neither is there', async () => {
    assert.match(
      await outcome('DB-IP City Lite'),
      /2026-10\.mmdb\.gz: the server answered 404: there is no file of this month or the last$/,
    )
  })

  it('continues that of the month before when that of this month is still missing', async () => {
    server.files.set(DBIP_BEFORE, { bytes: gzipSync(march), etag: '"dbip"' })
    server.silentAfter = 40_000
    await outcome('DB-IP City Lite', { idleMs: 100 })
    server.silentAfter = Number.POSITIVE_INFINITY
    assert.equal(await outcome('DB-IP City Lite'), 'installed')
    assert.equal(askedFor(DBIP_BEFORE).at(-1)?.headers.range, 'bytes=40000-')
  })
})

describe('a wrong account', () => {
  for (const status of [401, 403]) {
    it(`is told by ${status} without showing the key`, async () => {
      serveAll()
      server.intercept = ({ headers }, response) => {
        const isMaxmind = headers.authorization !== undefined
        if (isMaxmind) response.writeHead(status).end('Invalid account ID or license key')
        return isMaxmind
      }
      const results = await download()
      const text = JSON.stringify(results)
      assert.match(text, /MERIDIAN_MAXMIND_ACCOUNT_ID or MERIDIAN_MAXMIND_LICENSE_KEY is wrong/)
      assert.equal(text.includes(LICENSE_KEY), false)
      assert.equal(text.includes(AUTHORIZATION), false)
      assert.equal(results.at(-1)?.outcome, 'installed')
    })
  }
})

describe('a redirect', () => {
  it('to another origin is followed without the account, also when continuing', async () => {
    await using store = await openFileServer()
    serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    for (const [url, file] of server.files) store.files.set(url, file)
    await interrupt()
    server.intercept = ({ url }, response) => {
      response.writeHead(302, { location: `${store.origin}${url}` }).end()
      return true
    }
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    const [asked] = askedFor(CITY)
    assert.equal(asked?.headers.authorization, AUTHORIZATION)
    const redirected = store.asked.filter(({ url }) => url.startsWith(CITY))
    assert.equal(redirected.length, 2)
    for (const { headers } of redirected) assert.equal(headers.authorization, undefined)
    assert.equal(redirected.at(-1)?.headers.range, asked?.headers.range)
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(march))
  })
})

describe('a later download', () => {
  it('asks whether there is a newer file, and keeps the one that is there', async () => {
    serveAll()
    await download()
    const before = statSync(inGeo(OPTIONAL.downloadedMaxmindCity))
    server.asked.length = 0
    const results = await download()
    assert.deepEqual(
      results.map((result) => result.outcome),
      ['up-to-date', 'up-to-date', 'up-to-date'],
    )
    assert.equal(askedFor(CITY)[0]?.headers['if-modified-since'], MARCH_TIME)
    assert.equal(statSync(inGeo(OPTIONAL.downloadedMaxmindCity)).ino, before.ino)
    assert.deepEqual(leftovers(), [])
  })

  it('replaces the file by a newer one', async () => {
    serveAll()
    await download()
    serveAll(april, APRIL_TIME)
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('keeps a file that was built at the same time or later', async () => {
    serveAll(april, MARCH_TIME)
    await download()
    for (const mmdb of [april, march]) {
      serveAll(mmdb, APRIL_TIME)
      assert.equal(await outcome('GeoLite2 City'), 'up-to-date')
      assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(april))
    }
  })

  it('replaces a file that cannot be used, whatever its time', async () => {
    serveAll()
    mkdirSync(geo)
    writeFileSync(inGeo(OPTIONAL.downloadedMaxmindCity), 'text')
    assert.equal(await outcome('GeoLite2 City'), 'installed')
    assert.equal(askedFor(CITY)[0]?.headers['if-modified-since'], undefined)
  })

  it('keeps the old file when it is interrupted', async () => {
    serveAll()
    await download()
    serveAll(april, APRIL_TIME)
    server.files.delete(ASN)
    server.files.delete(DBIP)
    await interrupt()
    assert.deepEqual(installed('downloadedMaxmindCity'), Buffer.from(march))
  })

  it('removes what a download that was killed while unpacking has left', async () => {
    serveAll()
    mkdirSync(geo)
    writeFileSync(inGeo('.partial-999999999-0a1b2c3d-downloaded-GeoLite2-City.mmdb'), 'text')
    await download()
    assert.deepEqual(leftovers(), [])
  })
})
