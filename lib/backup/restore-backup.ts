import { existsSync } from 'node:fs'
import { link, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir } from '../config/data-dir.ts'
import { checkpointFile, pendingMigrations } from '../db/database-file.ts'
import { lockDataDir } from '../db/lock.ts'
import { explainWrite } from '../parts/disk-advice.ts'
import { syncPath } from '../parts/process/sync-path.ts'
import { unpackBackup, unusable } from './archive.ts'
import { DATABASE, SECRETS } from './manifest.ts'
import { withWorkFolder } from './work-folder.ts'

interface RestoreOptions {
  readonly archive: string
  readonly dataDir: string
  /** Whether existing data may be moved aside. */
  readonly overwrite: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

const WAL_FILES = [`${DATABASE}-wal`, `${DATABASE}-shm`]
/** The folder in which Litestream keeps its state. */
const LITESTREAM = `.${DATABASE}-litestream`
/** Everything that belongs to a database, and must not stay next to another one. */
const DATA = [DATABASE, ...WAL_FILES, SECRETS, LITESTREAM]

/**
 * Checks a backup, then puts its database and secrets into the data folder. Throws if a server uses
 * the folder, or if it holds data that may not be moved aside. Returns the folder with the previous
 * data, `aside`, if there was any, and the `pending` migrations that the next start will apply.
 */
export async function restoreBackup(options: RestoreOptions) {
  const { archive, dataDir, overwrite, now } = options
  makeDataDir(dataDir)
  using _lock = lockDataDir(dataDir)
  const present = DATA.filter((name) => existsSync(join(dataDir, name)))
  if (present.length > 0 && !overwrite) {
    throw new Error(
      `The data folder ${dataDir} holds ${present.join(', ')}: ` +
        'set MERIDIAN_DATA_DIR to another folder, or move the data aside with --overwrite',
    )
  }
  return withWorkFolder(dataDir, async (folder) => {
    const manifest = await unpackBackup(archive, folder)
    const pending = findPending(archive, join(folder, DATABASE))
    const aside = present.length === 0 ? undefined : await moveAside(dataDir, present, now)
    await install(folder, dataDir)
    return { manifest, aside, pending }
  })
}

function findPending(archive: string, database: string): string[] {
  try {
    return pendingMigrations(database)
  } catch (cause) {
    throw unusable(archive, cause)
  }
}

/**
 * Links the existing files into another folder: they stay in place until they are replaced. A folder
 * cannot be linked, so Litestream's is moved.
 */
async function moveAside(dataDir: string, names: readonly string[], now: number): Promise<string> {
  const aside = join(dataDir, `before-restore-${new Date(now).toISOString().replaceAll(':', '')}`)
  await mkdir(aside, { mode: 0o700 })
  for (const name of names) {
    const add = name === LITESTREAM ? rename : link
    const path = join(dataDir, name)
    await add(path, join(aside, name)).catch((cause: unknown) => {
      throw explainWrite(path, cause)
    })
  }
  await syncPath(aside)
  return aside
}

/** Merges the old database's write-ahead log and removes it: the new database must not use it. */
async function install(folder: string, dataDir: string): Promise<void> {
  const database = join(dataDir, DATABASE)
  if (existsSync(database)) checkpointFile(database)
  for (const name of WAL_FILES) await rm(join(dataDir, name), { force: true })
  for (const name of [DATABASE, SECRETS]) {
    await syncPath(join(folder, name))
    await rename(join(folder, name), join(dataDir, name))
  }
  await syncPath(dataDir)
}
