import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { copyFile, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Bundled } from './bundled.ts'
import { replaceFile } from './file-swap.ts'
import { PREPARED } from './prepare.ts'

/** A database file to be served. */
export interface SourceFile {
  readonly path: string
  /** Name to show: that of the file, without its ending. */
  readonly name: string
  /** Another one for other contents. */
  readonly version: string
  /** Path of the same bytes that nobody will truncate, so that they can be mapped. */
  privatePath(): Promise<string>
}

/** Files in the geo folder that take the place of bundled ones, or stand before them. */
export const OPTIONAL = {
  overlay: 'overlay.mmdb',
  downloadedMaxmindCity: 'downloaded-GeoLite2-City.mmdb',
  downloadedMaxmindAsn: 'downloaded-GeoLite2-ASN.mmdb',
  downloadedDbipCity: 'downloaded-dbip-city-lite.mmdb',
} as const

/** The bundled set in order of priority; downloaded files take the place of bundled ones. */
export function defaultFiles(directory: string, bundled: Bundled): SourceFile[] {
  const inGeo = (name: string) => ownFile(join(directory, name))
  const choose = (downloaded: string, otherwise: readonly SourceFile[]) =>
    existsSync(join(directory, downloaded)) ? [inGeo(downloaded)] : otherwise
  return [
    ...overlayFile(directory),
    ...choose(OPTIONAL.downloadedMaxmindCity, [inGeo(PREPARED.maxmindCity)]),
    ...choose(
      OPTIONAL.downloadedDbipCity,
      bundled.dbipCity.map(({ path }) => ownFile(path)),
    ),
    ...choose(OPTIONAL.downloadedMaxmindAsn, [inGeo(PREPARED.asn)]),
  ]
}

/** The operator's files, behind the overlay. They are copied before they are mapped. */
export function operatorFiles(directory: string, paths: readonly string[]): SourceFile[] {
  return [...overlayFile(directory), ...paths.map((path) => foreignFile(directory, path))]
}

function overlayFile(directory: string): SourceFile[] {
  const path = join(directory, OPTIONAL.overlay)
  return existsSync(path) ? [ownFile(path)] : []
}

/** A file that only `replaceFile` or npm writes: it is never truncated while it has its name. */
function ownFile(path: string): SourceFile {
  return { path, name: nameOf(path), version: versionOf(path), privatePath: async () => path }
}

function foreignFile(directory: string, path: string): SourceFile {
  const version = versionOf(path)
  const copy = () => copyToGeo(directory, path, version)
  return { path, name: nameOf(path), version, privatePath: copy }
}

const COPY = 'copy-'

/** Copies once per version; copies of older versions are removed, which harms no mapping. */
async function copyToGeo(directory: string, path: string, version: string): Promise<string> {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
  const prefix = `${COPY}${digest(path)}-`
  const name = `${prefix}${digest(version)}.mmdb`
  const copied = join(directory, name)
  if (existsSync(copied)) return copied
  await replaceFile(directory, name, (partial) => copyFile(path, partial))
  for (const other of await readdir(directory)) {
    if (other.startsWith(prefix) && other !== name) await rm(join(directory, other))
  }
  return copied
}

/**
 * Missing files have a version, too: they are refused when opened, with a line that says so. Whole
 * milliseconds are the same on every runtime, so that what was made of the files by one serves another.
 */
export function versionOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? 'missing' : `${stats.size}-${Math.floor(stats.mtimeMs)}-${stats.ino}`
}

function nameOf(path: string): string {
  return basename(path).replace(/\.mmdb$/, '')
}
