import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Bundled } from './bundled.ts'
import { PREPARED } from './prepare.ts'
import { openCopy, openLastCopy } from './private-copy.ts'

/** A database file to serve. */
export interface SourceFile {
  readonly path: string
  /** Name to show: the file name without its extension. */
  readonly name: string
  /** Changes with the contents. */
  readonly version: string
  /** Whether the next start makes the file if it is missing. */
  readonly isPrepared: boolean
  /** Advice for the error message if the file is unusable. */
  readonly remedy: string
  /** Opens a file with the same bytes that is never truncated, so `use` can map it. */
  openPrivate<Opened>(use: (path: string) => Promise<Opened>): Promise<Opened>
  /** Opens the last usable version of the file, if it was kept; otherwise returns null. */
  openLastUsable<Opened>(use: (path: string) => Promise<Opened>): Promise<Opened | null>
}

/** Files in the geo folder that replace the bundled ones or are used together with them. */
export const OPTIONAL = {
  overlay: 'overlay.mmdb',
  downloadedMaxmindCity: 'downloaded-GeoLite2-City.mmdb',
  downloadedMaxmindAsn: 'downloaded-GeoLite2-ASN.mmdb',
  downloadedDbipCity: 'downloaded-dbip-city-lite.mmdb',
  lists: 'downloaded-lists.mmdb',
  geofeeds: 'geofeeds.mmdb',
} as const

/** The version of a file that is not there. */
const MISSING = 'missing'

/** The bundled set, in order of priority; downloaded files replace bundled ones. */
export function defaultFiles(directory: string, bundled: Bundled): SourceFile[] {
  const inGeo = (name: string) => ownFile(join(directory, name))
  const choose = (downloaded: string, otherwise: readonly SourceFile[]) =>
    existsSync(join(directory, downloaded)) ? [inGeo(downloaded)] : otherwise
  const prepared = (name: string) => ({ ...inGeo(name), isPrepared: true })
  return [
    ...optionalFile(directory, OPTIONAL.overlay),
    ...choose(OPTIONAL.downloadedMaxmindCity, [prepared(PREPARED.maxmindCity)]),
    ...choose(
      OPTIONAL.downloadedDbipCity,
      bundled.dbipCity.map(({ path }) => ownFile(path)),
    ),
    ...choose(OPTIONAL.downloadedMaxmindAsn, [prepared(PREPARED.asn)]),
    ...optionalFile(directory, OPTIONAL.lists),
  ]
}

export const OPERATOR_REMEDY = 'replace it, or change MERIDIAN_GEO, which names it'

/** The operator's files, which are copied before they are mapped, between the overlay and the lists. */
export function operatorFiles(directory: string, paths: readonly string[]): SourceFile[] {
  return [
    ...optionalFile(directory, OPTIONAL.overlay),
    ...paths.map((path) => operatorFile(directory, path)),
    ...optionalFile(directory, OPTIONAL.lists),
  ]
}

/** Adds the compiled geofeeds after the overlay and before all databases. */
export function addGeofeeds(directory: string, files: readonly SourceFile[]): SourceFile[] {
  const at = files[0]?.path === join(directory, OPTIONAL.overlay) ? 1 : 0
  return files.toSpliced(at, 0, ...optionalFile(directory, OPTIONAL.geofeeds))
}

function optionalFile(directory: string, name: string): SourceFile[] {
  const path = join(directory, name)
  return existsSync(path) ? [ownFile(path)] : []
}

/** A file that only `replaceFile` or npm writes: neither truncates files. */
function ownFile(path: string): SourceFile {
  return {
    path,
    name: nameOf(path),
    version: fileVersion(path),
    isPrepared: false,
    remedy: 'delete or replace it; npm ci replaces the bundled ones',
    openPrivate: (use) => use(path),
    openLastUsable: async () => null,
  }
}

function operatorFile(directory: string, path: string): SourceFile {
  const version = fileVersion(path)
  return {
    path,
    name: nameOf(path),
    version,
    isPrepared: false,
    remedy: OPERATOR_REMEDY,
    openPrivate: (use) => openCopy(directory, { path, version }, use),
    // If the file is missing, the path is probably wrong: a kept copy would hide that.
    openLastUsable: (use) =>
      version === MISSING ? Promise.resolve(null) : openLastCopy(directory, path, use),
  }
}

/**
 * The version of a file. A missing or unreadable file also has one; the failure to open it is logged later.
 * Times are cut to whole milliseconds, so that runtimes that report different fractions can share an atlas.
 */
export function fileVersion(path: string): string {
  try {
    const { size, mtimeMs, ino } = statSync(path)
    return `${size}-${Math.floor(mtimeMs)}-${ino}`
  } catch {
    return MISSING
  }
}

function nameOf(path: string): string {
  return basename(path).replace(/\.mmdb$/, '')
}
