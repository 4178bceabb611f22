import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { freeMemory } from '../../parts/process/free-memory.ts'
import { openMmdb } from '../mmdb/mmdb.ts'
import type { Bundled } from './bundled.ts'
import { compileAsn } from './compile-asn.ts'
import { openBytes } from './mapped-file.ts'
import { collectRegions } from './regions.ts'
import { replaceFile, writeStream } from './replace-file.ts'

/** Reports the current step and its completed share, 0 to 1. */
export type OnProgress = (step: string, share: number) => void

export const PREPARED = {
  maxmindCity: 'GeoLite2-City.mmdb',
  asn: 'asn.mmdb',
  regions: 'regions.json',
} as const

const MANIFEST = 'prepared.json'

/** Raise this when the preparation changes, so that files are prepared again. */
const FORMAT = 1

/**
 * Prepares the bundled databases in `directory` unless they are prepared already: unzips the City
 * file, compiles the ASN file and collects the region codes.
 */
export async function prepareBundled(
  directory: string,
  bundled: Bundled,
  onProgress: OnProgress,
): Promise<'prepared' | 'already prepared'> {
  const source = describeSource(bundled)
  if (isPrepared(directory, source)) return 'already prepared'
  // Each step needs much memory, and the start has left much garbage.
  freeMemory()
  await unzipCity(directory, bundled, onProgress)
  await writeAsn(directory, bundled, onProgress)
  freeMemory()
  await writeRegions(directory, onProgress)
  const manifest = manifestOf(directory, source)
  await replaceFile(directory, MANIFEST, (partial) => writeFile(partial, manifest))
  return 'prepared'
}

/**
 * Collects only the region codes, unless they are there already: an operator's own files may name
 * regions without their codes.
 */
export async function prepareRegions(
  directory: string,
  bundled: Bundled,
  onProgress: OnProgress,
): Promise<'prepared' | 'already prepared'> {
  if (existsSync(join(directory, PREPARED.regions))) return 'already prepared'
  await unzipCity(directory, bundled, onProgress)
  await writeRegions(directory, onProgress)
  await rm(join(directory, PREPARED.maxmindCity))
  return 'prepared'
}

function describeSource({ maxmindCity, asn }: Bundled): string {
  const files = [maxmindCity, ...asn].map(({ path, version }) => [version, statSync(path).size])
  return JSON.stringify([FORMAT, ...files])
}

function isPrepared(directory: string, source: string): boolean {
  try {
    return readFileSync(join(directory, MANIFEST), 'utf8') === manifestOf(directory, source)
  } catch {
    return false // the manifest or a prepared file is missing
  }
}

/** Holds the sizes of the prepared files: a file of another size is damaged or not ours. */
function manifestOf(directory: string, source: string): string {
  const files = Object.fromEntries(
    Object.values(PREPARED).map((name) => [name, statSync(join(directory, name)).size]),
  )
  return `${JSON.stringify({ source, files }, null, 2)}\n`
}

async function unzipCity(directory: string, bundled: Bundled, onProgress: OnProgress) {
  const { path } = bundled.maxmindCity
  const total = statSync(path).size
  let done = 0
  const count = new Transform({
    transform: (chunk: Buffer, _, next) => {
      done += chunk.length
      onProgress('Unzip GeoLite2 City', done / total)
      next(null, chunk)
    },
  })
  await replaceFile(directory, PREPARED.maxmindCity, async (partial) => {
    await writeStream(partial, createReadStream(path), count, createGunzip())
    await openMapped(partial)
  })
}

async function writeAsn(directory: string, bundled: Bundled, onProgress: OnProgress) {
  const step = 'Compile the ASN database'
  const paths = bundled.asn.map(({ path }) => path)
  const builtAt = Math.max(...bundled.asn.map(({ version }) => releaseTime(version)))
  const bytes = compileAsn(paths, builtAt, (share) => onProgress(step, share))
  openMmdb(bytes)
  await replaceFile(directory, PREPARED.asn, (partial) => writeFile(partial, bytes))
  onProgress(step, 1)
}

/** Versions of ip-location-db end in the hour of their release: 2.3.2026061719. */
function releaseTime(version: string): number {
  const [, year, month, day, hour] = /(\d{4})(\d{2})(\d{2})(\d{2})$/.exec(version) ?? []
  return Date.UTC(Number(year ?? 1970), Number(month ?? 1) - 1, Number(day ?? 1), Number(hour ?? 0))
}

/** Reads the City file in the same directory. */
async function writeRegions(directory: string, onProgress: OnProgress) {
  const step = 'Collect region codes'
  onProgress(step, 0)
  const regions = collectRegions(await openMapped(join(directory, PREPARED.maxmindCity)))
  await replaceFile(directory, PREPARED.regions, (partial) =>
    writeFile(partial, JSON.stringify(regions)),
  )
  onProgress(step, 1)
}

/** Mapped, since reading it would take 66 MB. */
async function openMapped(path: string) {
  const { bytes } = await openBytes(path, true)
  return openMmdb(bytes)
}
