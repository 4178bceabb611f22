import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../db/lock.ts'
import { explainWrite } from '../disk-advice.ts'
import { isLongUnchanged, removeLeftovers } from '../process/leftovers.ts'

const WORK_FOLDER = /^\.partial-backup-/

/**
 * Runs `work` with a new folder in `directory` that only its owner may read, and removes the folder
 * afterwards. First removes the folders that killed processes have left.
 */
export async function withWorkFolder<Result>(
  directory: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  removeWorkFolders(directory)
  const prefix = join(directory, '.partial-backup-')
  const unlocked = await mkdtemp(prefix).catch((cause: unknown) => {
    throw explainWrite(prefix, cause)
  })
  const folder = `${unlocked}-locked`
  try {
    using _lock = lockFolder(unlocked)
    // Only now may other processes see it: they remove folders that nobody has locked.
    await rename(unlocked, folder)
    return await work(folder)
  } finally {
    for (const path of [unlocked, folder]) await rm(path, { recursive: true, force: true })
  }
}

/** Removes work folders of ended processes, which hold copies of the database and the secrets. */
export function removeWorkFolders(directory: string): void {
  removeLeftovers(directory, WORK_FOLDER, (folder) => {
    // Its process is about to lock it, or an earlier release made it, which locked none.
    if (!folder.endsWith('-locked')) return isLongUnchanged(folder)
    lockFolder(folder)[Symbol.dispose]() // throws while a process holds it
    return true
  })
}

/** The lock ends with its process, and also keeps out processes in other containers. */
function lockFolder(folder: string): Disposable {
  const inUse = `Another process is using ${folder}`
  return lockFile(join(folder, 'lock'), { inUse, failed: `Cannot write into ${folder}` })
}
