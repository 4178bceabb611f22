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
    // Other processes remove folders that are not locked, so the folder gets its name only now.
    await rename(unlocked, folder)
    return await work(folder)
  } finally {
    for (const path of [unlocked, folder]) await rm(path, { recursive: true, force: true })
  }
}

/** Removes work folders of ended processes, which hold copies of the database and the secrets. */
export function removeWorkFolders(directory: string): void {
  removeLeftovers(directory, WORK_FOLDER, (folder) => {
    // Its process is about to lock it, or it comes from an earlier release, which locked no folders.
    if (!folder.endsWith('-locked')) return isLongUnchanged(folder)
    lockFolder(folder)[Symbol.dispose]() // throws while a process holds it
    return true
  })
}

/** The lock ends with its process. Processes in other containers respect it, too. */
function lockFolder(folder: string): Disposable {
  const inUse = `Another process is using ${folder}`
  return lockFile(join(folder, 'lock'), { inUse, failed: `Cannot write into ${folder}` })
}
