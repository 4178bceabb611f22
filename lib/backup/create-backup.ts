import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { copyDatabase } from '../db/copy.ts'
import { syncPath } from '../sync-path.ts'
import { VERSION } from '../version.ts'
import { describeFile, packBackup, unpackBackup } from './archive.ts'
import { DATABASE, FORMAT, type GeoVersion, MANIFEST, type Manifest, SECRETS } from './manifest.ts'
import { withWorkFolder } from './work-folder.ts'

export interface BackupOptions {
  readonly dataDir: string
  /** The archive to write, which must not be there. */
  readonly path: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly geo: readonly GeoVersion[]
}

/**
 * Writes the database and the secrets to one archive, which only its owner may read, while a server
 * runs or not. It is unpacked and checked before it gets its name, so there is never a part of one.
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { dataDir, path, now, geo } = options
  for (const name of [DATABASE, SECRETS]) {
    if (existsSync(join(dataDir, name))) continue
    throw new Error(`There is no ${name} in ${dataDir}: the first start of the server makes it`)
  }
  if (existsSync(path)) throw new Error(`There is a file ${path} already`)
  const directory = dirname(path)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  return withWorkFolder(directory, async (folder) => {
    copyDatabase(join(dataDir, DATABASE), join(folder, DATABASE))
    await copyFile(join(dataDir, SECRETS), join(folder, SECRETS))
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
