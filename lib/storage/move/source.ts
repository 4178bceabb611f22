import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unpackBackup } from '../../backup/archive.ts'
import { DATABASE, SECRETS } from '../../backup/manifest.ts'
import { withWorkFolder } from '../../backup/work-folder.ts'
import { makeDataDir } from '../../config/data-dir.ts'
import { findSecrets, type Secrets } from '../../config/secrets.ts'
import { lockDataDir } from '../../db/lock.ts'
import { openDb } from '../../db/open.ts'
import { openRumWriter } from '../../rum/writer.ts'

/** What a server on SQLite keeps. */
export interface Source {
  /** A current database file, whose journal is summed up. */
  readonly file: string
  readonly secrets: Secrets
}

interface SourceOptions {
  /** A database file, its folder, or a backup (`.tar.gz`); undefined: the data folder. */
  readonly path: string | undefined
  readonly dataDir: string
  readonly now: () => number
}

/**
 * Runs `work` with the files that `path` names, and keeps servers from using them meanwhile. Prepares the
 * database as a starting server would, but does not change a backup. Throws if a file is missing or damaged.
 */
export async function withSource<Result>(
  { path, dataDir, now }: SourceOptions,
  work: (source: Source) => Promise<Result>,
): Promise<Result> {
  if (path === undefined) return withFile(join(dataDir, DATABASE), now, work)
  if (!existsSync(path)) throw new Error(`There is no ${path}`)
  if (statSync(path).isDirectory()) return withFile(join(path, DATABASE), now, work)
  if (!path.endsWith('.tar.gz')) return withFile(path, now, work)
  makeDataDir(dataDir)
  return withWorkFolder(dataDir, async (folder) => {
    await unpackBackup(path, folder)
    return withFile(join(folder, DATABASE), now, work)
  })
}

async function withFile<Result>(
  file: string,
  now: () => number,
  work: (source: Source) => Promise<Result>,
): Promise<Result> {
  const folder = dirname(file)
  if (!existsSync(file)) throw new Error(`There is no ${basename(file)} in ${folder}`)
  using _lock = lockDataDir(folder)
  const secrets = findSecrets(folder)
  if (secrets === null) {
    throw new Error(`There is no ${SECRETS} beside ${file}: without it, all sessions would end`)
  }
  await prepare(file, now)
  return await work({ file, secrets })
}

/** Checks and migrates the database, and sums up the beacons that its journal still has. */
async function prepare(file: string, now: () => number): Promise<void> {
  const db = openDb(file)
  try {
    const onError = (cause: unknown, message: string) => {
      throw new Error(message, { cause })
    }
    await openRumWriter(db, { now, onError })[Symbol.asyncDispose]()
    const left = db.$client.prepare('SELECT count(*) FROM rum_journal').pluck().get()
    if (left !== 0) throw new Error(`Another command is writing to ${file}; try again later`)
  } finally {
    db.$client.close()
  }
}
