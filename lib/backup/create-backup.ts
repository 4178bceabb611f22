import { accessSync, constants, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { VERSION } from '../config/version.ts'
import { copyDatabase, eraseKeptAnswers } from '../db/database-file.ts'
import { explainWrite } from '../parts/disk-advice.ts'
import { syncPath } from '../parts/process/sync-path.ts'
import { codeOf, reasonOf } from '../parts/reason.ts'
import { describeFile, packBackup, unpackBackup } from './archive.ts'
import { DATABASE, FORMAT, type GeoVersion, MANIFEST, type Manifest, SECRETS } from './manifest.ts'
import { withWorkFolder } from './work-folder.ts'

interface BackupOptions {
  /** The archive to write; it must not exist. */
  readonly path: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly geo: readonly GeoVersion[]
}

/** Backs up a data folder. The server may be running. */
export async function createBackup({
  dataDir,
  ...options
}: BackupOptions & { readonly dataDir: string }): Promise<Manifest> {
  for (const name of [DATABASE, SECRETS]) checkReadable(dataDir, name)
  return writeBackup(options, async (folder) => {
    copyDatabase(join(dataDir, DATABASE), join(folder, DATABASE))
    await copyFile(join(dataDir, SECRETS), join(folder, SECRETS))
  })
}

/**
 * Writes the database, without kept answers, and the secrets, both of which `copyTo` puts into a folder, to one
 * archive that only its owner may read. The archive is unpacked and checked before it gets its name, so no partial archive ever has that
 * name.
 */
export async function writeBackup(
  { path, now, geo }: BackupOptions,
  copyTo: (folder: string) => Promise<void>,
): Promise<Manifest> {
  if (existsSync(path)) throw new Error(`The file ${path} already exists`)
  const directory = dirname(path)
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw explainWrite(directory, cause)
  })
  return withWorkFolder(directory, async (folder) => {
    await copyTo(folder)
    eraseKeptAnswers(join(folder, DATABASE))
    const files = [await describeFile(folder, DATABASE), await describeFile(folder, SECRETS)]
    const createdAt = new Date(now).toISOString()
    const manifest: Manifest = { format: FORMAT, version: VERSION, createdAt, files, geo: [...geo] }
    await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    const archive = join(folder, basename(path))
    await packBackup(folder, archive)
    await chmod(archive, 0o600)
    await syncPath(archive)
    const checked = join(folder, 'checked')
    await mkdir(checked)
    await unpackBackup(archive, checked)
    await rename(archive, path)
    await syncPath(directory)
    return manifest
  })
}

function checkReadable(dataDir: string, name: string): void {
  try {
    accessSync(join(dataDir, name), constants.R_OK)
  } catch (cause) {
    throw new Error(
      codeOf(cause) === 'ENOENT'
        ? `There is no ${name} in ${dataDir}: the server creates it on its first start`
        : `Cannot read ${name} in ${dataDir}: ${reasonOf(cause)}; run this as the user of the server`,
      { cause },
    )
  }
}
