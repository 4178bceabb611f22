import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning } from '../running.ts'

/** `.partial-backup-<process id>-<random>`. */
const NAME = /^\.partial-backup-(\d+)-/

/**
 * Lets `work` use a folder in `directory` that only its owner may look into, and removes it then,
 * together with those of processes that ended in the middle.
 */
export async function withWorkFolder<Result>(
  directory: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  await removeAbandoned(directory)
  const folder = await mkdtemp(join(directory, `.partial-backup-${process.pid}-`))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const owner = NAME.exec(name)?.[1]
    if (owner === undefined || isRunning(Number(owner))) continue
    await rm(join(directory, name), { recursive: true, force: true })
  }
}
