import { existsSync } from 'node:fs'
import { link, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir } from '../data-dir.ts'
import { foldLog } from '../db/fold-log.ts'
import { pendingMigrations } from '../db/inspect.ts'
import { lockDataDir } from '../db/lock.ts'
import { syncPath } from '../sync-path.ts'
import { unpackBackup } from './archive.ts'
import { DATABASE, type Manifest, SECRETS } from './manifest.ts'
import { withWorkFolder } from './work-folder.ts'

export interface RestoreOptions {
  readonly archive: string
  readonly dataDir: string
  /** Whether data that is there may be put aside. */
  readonly overwrite: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

export interface Restored {
  readonly manifest: Manifest
  /** Folder of what was there before; undefined: nothing was. */
  readonly aside: string | undefined
  /** Migrations that the next start applies. */
  readonly pending: readonly string[]
}

const LOGS = [`${DATABASE}-wal`, `${DATABASE}-shm`]
/** Folder in which Litestream keeps what it knows of the database. */
const LITESTREAM = `.${DATABASE}-litestream`
/** What belongs to a database: none of it may stay beside another one. */
const DATA = [DATABASE, ...LOGS, SECRETS, LITESTREAM]

/**
 * Puts the database and the secrets of a backup into the data folder, once all of it is checked.
 * Throws where a server runs on the folder, or where it holds data that may not be put aside.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { archive, dataDir, overwrite, now } = options
  makeDataDir(dataDir)
  using _lock = lockDataDir(dataDir)
  const present = DATA.filter((name) => existsSync(join(dataDir, name)))
  if (present.length > 0 && !overwrite) {
    throw new Error(
      `The data folder ${dataDir} holds ${present.join(', ')}: ` +
        'set MERIDIAN_DATA_DIR to another one, or put what is there aside with --overwrite',
    )
  }
  return withWorkFolder(dataDir, async (folder) => {
    const manifest = await unpackBackup(archive, folder)
    const pending = findPending(archive, join(folder, DATABASE))
    const aside = present.length === 0 ? undefined : await putAside(dataDir, present, now)
    await install(folder, dataDir)
    return { manifest, aside, pending }
  })
}

function findPending(archive: string, database: string): string[] {
  try {
    return pendingMigrations(database)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot use the backup ${archive}: ${reason}`, { cause })
  }
}

/** Gives a second name to what is there: until it is replaced, nothing is missing. */
async function putAside(dataDir: string, names: readonly string[], now: number): Promise<string> {
  const aside = join(dataDir, `before-restore-${new Date(now).toISOString().replaceAll(':', '')}`)
  await mkdir(aside, { mode: 0o700 })
  for (const name of names) {
    const put = name === LITESTREAM ? rename : link
    await put(join(dataDir, name), join(aside, name))
  }
  await syncPath(aside)
  return aside
}

/** A log must not stay beside another database, nor be taken from its own while it is needed. */
async function install(folder: string, dataDir: string): Promise<void> {
  const database = join(dataDir, DATABASE)
  if (existsSync(database)) foldLog(database)
  for (const name of LOGS) await rm(join(dataDir, name), { force: true })
  for (const name of [DATABASE, SECRETS]) {
    await syncPath(join(folder, name))
    await rename(join(folder, name), join(dataDir, name))
  }
  await syncPath(dataDir)
}
