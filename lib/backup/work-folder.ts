import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../db/lock.ts'
import { isLongUnchanged, removeLeftovers } from '../parts/process/leftovers.ts'

const WORK_FOLDER = /^\.partial-backup-/
const LOCKED = /-locked$/

/**
 * Runs `work` with a new folder in `directory` that only its owner may read, and removes the folder
 * afterwards. First removes the folders that killed processes have left.
 */
export async function withWorkFolder<Result>(
  directory: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  removeWorkFolders(directory)
  const folder = join(directory, `.partial-backup-${randomBytes(8).toString('hex')}-locked`)
  // Locked first: other processes remove folders that are not locked.
  const lock = lockFolder(folder)
  try {
    await mkdir(folder, { mode: 0o700 })
    return await work(folder)
  } finally {
    lock[Symbol.dispose]()
    for (const path of [folder, lockOf(folder)]) await rm(path, { recursive: true, force: true })
  }
}

/** Removes work folders of ended processes, which hold copies of the database and the secrets. */
export function removeWorkFolders(directory: string): void {
  removeLeftovers(directory, WORK_FOLDER, (path) => {
    // Either a lock whose folder is about to be made, or a folder of an earlier release, which locked none.
    if (!LOCKED.test(path)) return !hasFolder(path) && isLongUnchanged(path)
    lockFolder(path)[Symbol.dispose]() // throws while a process holds it
    rmSync(lockOf(path), { force: true })
    return true
  })
}

/** The lock ends with its process. Processes in other containers respect it, too. */
function lockFolder(folder: string): Disposable {
  const inUse = `Another process is using ${folder}`
  return lockFile(lockOf(folder), { inUse, failed: `Cannot write ${folder}` })
}

/** The lock is beside the folder: Windows does not rename or remove a folder with an open file. */
function lockOf(folder: string): string {
  return folder.replace(LOCKED, '.lock')
}

function hasFolder(lock: string): boolean {
  return existsSync(lock.replace(/\.lock$/, '-locked'))
}
