import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import * as v from 'valibot'
import type { Bundled } from './bundled.ts'
import { compileAsn } from './compile-asn.ts'
import { removeAbandoned, replaceFile, writeStream } from './file-swap.ts'
import { openMmdb } from './mmdb.ts'
import { collectRegions } from './regions.ts'

/** Says what is being done and how much of it is: 0 to 1. */
export type OnProgress = (step: string, share: number) => void

export const PREPARED = {
  maxmindCity: 'GeoLite2-City.mmdb',
  asn: 'asn.mmdb',
  regions: 'regions.json',
} as const

const MANIFEST = 'prepared.json'

/** Raised when the way of preparing changes, so that files of an older version are made anew. */
const FORMAT = 1

const Manifest = v.object({
  source: v.string(),
  /** Bytes by file name: a file of another size was not made by us, or is damaged. */
  files: v.record(v.string(), v.number()),
})

/**
 * Makes the databases that the packages carry ready for use in `directory`, unless they are:
 * unzips the City file, compiles the ASN file, collects the region codes. Says whether there was
 * anything to do.
 */
export async function prepareBundled(
  directory: string,
  bundled: Bundled,
  onProgress: OnProgress,
): Promise<'done' | 'was done'> {
  const source = describeSource(bundled)
  if (isPrepared(directory, source)) return 'was done'
  await removeAbandoned(directory)
  await unzipCity(directory, bundled, onProgress)
  await writeAsn(directory, bundled, onProgress)
  await writeRegions(directory, readFileSync(join(directory, PREPARED.maxmindCity)), onProgress)
  await writeManifest(directory, source)
  return 'done'
}

/**
 * Collects only the region codes, unless they are there: for an operator's own files, which may
 * name regions without their codes.
 */
export async function prepareRegions(
  directory: string,
  bundled: Bundled,
  onProgress: OnProgress,
): Promise<'done' | 'was done'> {
  if (existsSync(join(directory, PREPARED.regions))) return 'was done'
  const city = gunzipSync(readFileSync(bundled.maxmindCity.path))
  await writeRegions(directory, city, onProgress)
  return 'done'
}

function describeSource({ maxmindCity, asn }: Bundled): string {
  const files = [maxmindCity, ...asn].map(({ path, version }) => [version, statSync(path).size])
  return JSON.stringify([FORMAT, ...files])
}

function isPrepared(directory: string, source: string): boolean {
  try {
    const manifest = v.parse(Manifest, JSON.parse(readFileSync(join(directory, MANIFEST), 'utf8')))
    return (
      manifest.source === source &&
      Object.values(PREPARED).every(
        (name) => manifest.files[name] === statSync(join(directory, name)).size,
      )
    )
  } catch {
    return false // no manifest, or no file that it names: there is nothing to trust
  }
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
    openMmdb(readFileSync(partial))
  })
}

async function writeAsn(directory: string, bundled: Bundled, onProgress: OnProgress) {
  const step = 'Compile the ASN database'
  const paths = bundled.asn.map(({ path }) => path)
  const builtAt = Math.max(...bundled.asn.map(({ version }) => releaseTime(version)))
  const bytes = compileAsn(paths, { builtAt, onProgress: (share) => onProgress(step, share) })
  openMmdb(Buffer.from(bytes.buffer))
  await replaceFile(directory, PREPARED.asn, (partial) => writeFile(partial, bytes))
  onProgress(step, 1)
}

/** Versions of ip-location-db end in the hour they were made: 2.3.2026061719. */
function releaseTime(version: string): number {
  const [, year, month, day, hour] = /(\d{4})(\d{2})(\d{2})(\d{2})$/.exec(version) ?? []
  return Date.UTC(Number(year ?? 1970), Number(month ?? 1) - 1, Number(day ?? 1), Number(hour ?? 0))
}

async function writeRegions(directory: string, city: Buffer, onProgress: OnProgress) {
  const step = 'Collect region codes'
  onProgress(step, 0)
  const regions = collectRegions(openMmdb(city))
  await replaceFile(directory, PREPARED.regions, (partial) =>
    writeFile(partial, JSON.stringify(regions)),
  )
  onProgress(step, 1)
}

async function writeManifest(directory: string, source: string) {
  const names = Object.values(PREPARED)
  const files = Object.fromEntries(
    names.map((name) => [name, statSync(join(directory, name)).size]),
  )
  await replaceFile(directory, MANIFEST, (partial) =>
    writeFile(partial, `${JSON.stringify({ source, files }, null, 2)}\n`),
  )
}
