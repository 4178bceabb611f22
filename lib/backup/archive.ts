import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { create, extract, list, type ReadEntry } from 'tar'
import * as v from 'valibot'
import { findDamage } from '../db/database-file.ts'
import { explainWrite } from '../parts/disk-advice.ts'
import { codeOf, reasonOf } from '../parts/reason.ts'
import { DATABASE, MANIFEST, Manifest, SECRETS, type StoredFile } from './manifest.ts'

const FILES = [MANIFEST, DATABASE, SECRETS] as const

/** Name, size and SHA-256 of a file in `folder`. */
export async function describeFile(folder: string, name: StoredFile['name']): Promise<StoredFile> {
  const path = join(folder, name)
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}

/** Packs the files of a backup in `folder` into one gzipped tar file. Only their owner may read them once unpacked. */
export async function packBackup(folder: string, archive: string): Promise<void> {
  for (const name of FILES) await chmod(join(folder, name), 0o600)
  const options = { file: archive, cwd: folder, gzip: true, portable: true, strict: true }
  await create(options, [...FILES])
}

/**
 * Unpacks a backup into an empty folder. Checks the file names and checksums, and lets SQLite check
 * the database. Throws an error that names the archive if a check fails.
 */
export async function unpackBackup(archive: string, folder: string): Promise<Manifest> {
  try {
    await checkEntries(archive)
    await extract({ file: archive, cwd: folder, strict: true }).catch((cause: unknown) => {
      throw explainWrite(join(folder, DATABASE), cause)
    })
    // Older archives let others read the database.
    for (const name of FILES) await chmod(join(folder, name), 0o600)
    const manifest = parseManifest(await readFile(join(folder, MANIFEST), 'utf8'))
    await checkFiles(folder, manifest)
    return manifest
  } catch (cause) {
    throw unusable(archive, cause)
  }
}

/** The error for a backup that cannot be restored. */
export function unusable(archive: string, cause: unknown): Error {
  return new Error(`Cannot use the backup ${archive}: ${reasonOf(cause)}`, { cause })
}

/** Refuses an archive unless it holds exactly the three plain files of a backup. */
async function checkEntries(archive: string): Promise<void> {
  const found: string[] = []
  const onReadEntry = ({ path, type }: ReadEntry) => {
    found.push(type === 'File' ? path : `${path} (${type})`)
  }
  try {
    await list({ file: archive, strict: true, onReadEntry })
  } catch (cause) {
    // Such as EACCES. The codes of tar and gzip start differently.
    if (/^E[A-Z]/.test(codeOf(cause))) throw cause
    throw new Error('it is damaged, truncated or not an archive', { cause })
  }
  if (found.toSorted().join() === FILES.toSorted().join()) return
  throw new Error(`it is not a backup of Meridian: it holds ${found.join(', ') || 'nothing'}`)
}

function parseManifest(text: string): Manifest {
  try {
    return v.parse(Manifest, JSON.parse(text))
  } catch (cause) {
    throw new Error(`its ${MANIFEST} is damaged or from a newer version`, { cause })
  }
}

async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const name of [DATABASE, SECRETS] as const) {
    const stored = files.find((file) => file.name === name)
    const { bytes, sha256 } = await describeFile(folder, name)
    if (stored?.bytes === bytes && stored.sha256 === sha256) continue
    throw new Error(`${name} does not match the manifest`)
  }
  const [damage] = findDamage(join(folder, DATABASE))
  if (damage !== undefined) throw new Error(`its database is damaged: ${damage}`)
}
