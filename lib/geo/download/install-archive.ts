import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat, utimes } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { openDatabase } from '../database.ts'
import { partialPath, putInPlace } from '../files/replace-file.ts'
import { innermostReason } from './http-request.ts'
import type { DownloadSource } from './sources.ts'

/** Finds a usable file that an earlier download installed. */
export async function findCurrent(path: string) {
  try {
    const { mtimeMs: modifiedAt } = await stat(path)
    return { builtAt: await readBuildTime(path), modifiedAt }
  } catch {
    return undefined // missing or damaged: any new file is better
  }
}

interface Target {
  readonly directory: string
  readonly source: DownloadSource
  readonly current: Awaited<ReturnType<typeof findCurrent>>
  /** SHA-256 in lower-case hex; undefined for archives with their own checksum. */
  readonly checksum: string | undefined
  /** Last-Modified of the archive, in epoch milliseconds. */
  readonly modifiedAt: number | undefined
}

export type Installed =
  /** `builtAt` in epoch milliseconds. */
  { readonly outcome: 'installed'; readonly builtAt: number } | { readonly outcome: 'up-to-date' }

/**
 * Installs the database in `archive` if it is newer than the current one. Throws if the archive is
 * damaged or Meridian would refuse the database.
 */
export async function installArchive(archive: string, target: Target): Promise<Installed> {
  const { directory, source, checksum } = target
  const partial = partialPath(directory, source.file)
  try {
    if (checksum !== undefined) await verify(archive, checksum)
    await source.unpack(archive, partial)
    return await installDatabase(partial, target)
  } catch (cause) {
    const reason = innermostReason(cause)
    throw new Error(`Cannot use ${source.archive}: ${reason}; the archive was deleted, try again`, {
      cause,
    })
  } finally {
    await rm(partial, { force: true })
  }
}

async function verify(archive: string, checksum: string): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(archive), hash)
  if (hash.digest('hex') !== checksum) throw new Error('its SHA-256 differs from the published one')
}

/** The file gets the server's modification time, which the next download compares. */
async function installDatabase(
  partial: string,
  { directory, source, current, modifiedAt }: Target,
): Promise<Installed> {
  const builtAt = await readBuildTime(partial)
  if (current !== undefined && builtAt <= current.builtAt) return { outcome: 'up-to-date' }
  if (modifiedAt !== undefined) await utimes(partial, modifiedAt / 1000, modifiedAt / 1000)
  await putInPlace(partial, directory, source.file)
  return { outcome: 'installed', builtAt }
}

/** Opens the database as Meridian does; throws if it would be refused. */
async function readBuildTime(path: string): Promise<number> {
  const { metadata } = await openDatabase(path, { map: false, regionCode: () => undefined })
  return metadata.builtAt
}
