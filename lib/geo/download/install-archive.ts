import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat, utimes } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { openDatabase } from './database.ts'
import type { Source } from './download-sources.ts'
import { partialPath, putInPlace } from './file-swap.ts'
import { innermostReason } from './http-request.ts'

/** What an earlier download has installed, if it can be used. */
export interface Current {
  readonly builtAt: number
  readonly modifiedAt: number
}

export async function findCurrent(path: string): Promise<Current | undefined> {
  try {
    const { mtimeMs: modifiedAt } = await stat(path)
    return { builtAt: await readBuildTime(path), modifiedAt }
  } catch {
    return undefined // none there, or a damaged one: the new one is wanted in any case
  }
}

export interface Target {
  readonly directory: string
  readonly source: Source
  readonly current: Current | undefined
  /** SHA-256 in lower-case hex; undefined for archives with a checksum of their own. */
  readonly checksum: string | undefined
  /** Time of the file on the server, in epoch milliseconds. */
  readonly modifiedAt: number | undefined
}

export type Done =
  /** `builtAt` in epoch milliseconds. */
  { readonly outcome: 'installed'; readonly builtAt: number } | { readonly outcome: 'up-to-date' }

/**
 * Puts the database in `archive` in place unless one as new is there. Throws where a server would
 * refuse it, or the archive is damaged.
 */
export async function installArchive(archive: string, target: Target): Promise<Done> {
  const { directory, source, checksum } = target
  const partial = partialPath(directory, source.file)
  try {
    if (checksum !== undefined) await verify(archive, checksum)
    await source.unpack(archive, partial)
    return await installDatabase(partial, target)
  } catch (cause) {
    const reason = innermostReason(cause)
    throw new Error(`Cannot use ${source.archive}: ${reason}; it is deleted, run it again`, {
      cause,
    })
  } finally {
    await rm(partial, { force: true })
  }
}

async function verify(archive: string, checksum: string): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(archive), hash)
  if (hash.digest('hex') !== checksum) throw new Error('its SHA-256 is not the published one')
}

/** The file gets the time of the server's, by which the next download asks for a newer one. */
async function installDatabase(
  partial: string,
  { directory, source, current, modifiedAt }: Target,
): Promise<Done> {
  const builtAt = await readBuildTime(partial)
  if (current !== undefined && builtAt <= current.builtAt) return { outcome: 'up-to-date' }
  if (modifiedAt !== undefined) await utimes(partial, modifiedAt / 1000, modifiedAt / 1000)
  await putInPlace(partial, directory, source.file)
  return { outcome: 'installed', builtAt }
}

/** Opens the whole database as a server would: throws where it would refuse it. */
async function readBuildTime(path: string): Promise<number> {
  const { metadata } = await openDatabase(path, { map: false, regionCode: () => undefined })
  return metadata.builtAt
}
