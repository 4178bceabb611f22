import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'
import {
  type Downloaded,
  type DownloadOptions,
  downloadAll,
} from '../../../lib/geo/download/download.ts'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { createMmdbWriter } from '../../../lib/geo/mmdb/writer.ts'
import { ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { type FileServer, openFileServer, type ServedFile } from './file-server.ts'

export const MARCH = Date.UTC(2026, 2, 1)
const APRIL = Date.UTC(2026, 3, 1)
export const MARCH_TIME = 'Mon, 02 Mar 2026 10:00:00 GMT'
export const APRIL_TIME = 'Thu, 02 Apr 2026 10:00:00 GMT'
const NOW = Date.UTC(2026, 10, 20)

export const CITY = '/geoip/databases/GeoLite2-City/download?suffix=tar.gz'
export const ASN = '/geoip/databases/GeoLite2-ASN/download?suffix=tar.gz'
export const DBIP = '/free/dbip-city-lite-2026-11.mmdb.gz'
export const DBIP_BEFORE = '/free/dbip-city-lite-2026-10.mmdb.gz'
export const CITY_ARCHIVE = '.download-GeoLite2-City.tar.gz'

const ACCOUNT = '123456'
export const LICENSE_KEY = ['made', 'up', 'key'].join('-')
export const AUTHORIZATION = `Basic ${Buffer.from(`${ACCOUNT}:${LICENSE_KEY}`).toString('base64')}`

/** A database that does not shrink when it is zipped. */
export function database(builtAt: number): Uint8Array {
  const about = { databaseType: 'GeoLite2-City', description: 'Test', builtAt }
  const writer = createMmdbWriter({ ...about, ipVersion: 6 })
  for (let at = 0; at < 1_500; at++) {
    const en = createHash('sha512').update(`${builtAt}-${at}`).digest('base64')
    const address = ipv4FromBits((at << 16) >>> 0)
    writer.insert({ address, prefix: 16 }, { country: { iso_code: 'DE' }, city: { names: { en } } })
  }
  return writer.toBytes()
}

export const march = database(MARCH)
export const april = database(APRIL)

export interface Entries {
  readonly [path: string]: Uint8Array | string
}

/** A gzipped tar file of files in folders. */
export function tarOf(entries: Entries): Buffer {
  const source = mkdtempSync(join(tmpdir(), 'meridian-tar-'))
  for (const [path, bytes] of Object.entries(entries)) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), bytes)
  }
  const file = join(source, 'archive.tar.gz')
  create({ file, cwd: source, gzip: true, sync: true }, readdirSync(source))
  const bytes = readFileSync(file)
  rmSync(source, { recursive: true })
  return bytes
}

/** An archive as MaxMind packs it. */
export function maxmindTar(mmdb: Uint8Array, name = 'GeoLite2-City'): Buffer {
  return tarOf({
    [`${name}_20260320/COPYRIGHT.txt`]: 'Copyright',
    [`${name}_20260320/LICENSE.txt`]: 'License',
    [`${name}_20260320/${name}.mmdb`]: mmdb,
  })
}

/** One server for both providers, and the folder for downloads. */
export interface Providers extends AsyncDisposable {
  readonly folder: string
  readonly geo: string
  readonly server: FileServer
  inGeo(name: string): string
  installed(name: keyof typeof OPTIONAL): Buffer
  /** Hidden files: unfinished downloads. */
  leftovers(): string[]
  /** Serves an archive of MaxMind's and its checksum. */
  serveTar(url: string, file: ServedFile): void
  /** Serves everything. */
  serveAll(mmdb?: Uint8Array, lastModified?: string): void
  requestsFor(url: string): FileServer['requests']
  download(options?: Partial<DownloadOptions>): Promise<Downloaded[]>
  /** The outcome of one download, in one line. */
  outcome(name: string, options?: Partial<DownloadOptions>): Promise<string>
  /** Downloads until 40 % of MaxMind's City archive is on disk, then loses the connection. */
  interrupt(): Promise<string>
}

export async function openProviders(): Promise<Providers> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-download-'))
  const geo = join(folder, 'geo')
  const server = await openFileServer()
  const providers: Providers = {
    folder,
    geo,
    server,
    inGeo: (name) => join(geo, name),
    installed: (name) => readFileSync(join(geo, OPTIONAL[name])),
    leftovers: () => readdirSync(geo).filter((name) => name.startsWith('.')),
    serveTar: (url, file) => {
      server.files.set(url, file)
      const hex = createHash('sha256').update(file.bytes).digest('hex')
      server.files.set(`${url}.sha256`, { bytes: Buffer.from(`${hex}  ${basename(url)}\n`) })
    },
    serveAll: (mmdb = march, lastModified = MARCH_TIME) => {
      const asn = maxmindTar(mmdb, 'GeoLite2-ASN')
      providers.serveTar(CITY, { bytes: maxmindTar(mmdb), etag: '"city"', lastModified })
      providers.serveTar(ASN, { bytes: asn, etag: '"asn"', lastModified })
      server.files.set(DBIP, { bytes: gzipSync(mmdb), etag: '"dbip"', lastModified })
    },
    requestsFor: (url) => server.requests.filter((request) => request.url === url),
    download: (options) =>
      downloadAll(geo, {
        maxmindUrl: server.origin,
        maxmindAccountId: ACCOUNT,
        maxmindLicenseKey: LICENSE_KEY,
        dbipUrl: server.origin,
        now: NOW,
        onProgress: () => {},
        ...options,
      }),
    outcome: async (name, options) => {
      const result = (await providers.download(options)).find((one) => one.name === name)
      assert.ok(result, name)
      return result.outcome === 'failed' ? result.reason : result.outcome
    },
    interrupt: () => interrupt(providers),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
  return providers
}

async function interrupt({ server, outcome, inGeo }: Providers): Promise<string> {
  const sent = Math.ceil((server.files.get(CITY)?.bytes.length ?? 0) * 0.4)
  server.silentAfter = sent
  const onProgress = (_: string, share: number) => {
    if (share >= 0.4) server.cut()
  }
  const reason = await outcome('GeoLite2 City', { onProgress })
  server.silentAfter = Number.POSITIVE_INFINITY
  server.requests.length = 0
  assert.equal(statSync(inGeo(CITY_ARCHIVE)).size, sent)
  return reason
}
