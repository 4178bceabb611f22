import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isRunning } from '../running.ts'
import { syncPath } from '../sync-path.ts'

/** Names of files on their way: `.partial-<process id>-<random>-<name>`. */
const PARTIAL = /^\.partial-(\d+)-/
const ABANDONED_AFTER_MS = 6 * 60 * 60 * 1000

/**
 * Puts a file into `directory` in one step: `write` fills a file of another name, which is synced,
 * made read-only and renamed. Readers see the old file or the new one, never a part, and whoever
 * has mapped the old one keeps it. Two processes that do the same at once do it twice, unharmed.
 */
export async function replaceFile(
  directory: string,
  name: string,
  write: (path: string) => Promise<void>,
): Promise<string> {
  await mkdir(directory, { recursive: true })
  const partial = partialPath(directory, name)
  try {
    await write(partial)
    return await putInPlace(partial, directory, name)
  } finally {
    await rm(partial, { force: true })
  }
}

/** Where to write a file that is to be put into `directory`. */
export function partialPath(directory: string, name: string): string {
  const token = randomBytes(4).toString('hex')
  return join(directory, `.partial-${process.pid}-${token}-${name}`)
}

/** The last step of `replaceFile`, for callers that look at what they have written first. */
export async function putInPlace(
  partial: string,
  directory: string,
  name: string,
): Promise<string> {
  await syncPath(partial)
  await chmod(partial, 0o444)
  const path = join(directory, name)
  await rename(partial, path)
  await syncPath(directory)
  return path
}

/** Writes what `source` gives to `path`, through `transforms`. */
export async function writeStream(
  path: string,
  source: NodeJS.ReadableStream,
  ...transforms: NodeJS.ReadWriteStream[]
): Promise<void> {
  await pipeline([source, ...transforms, createWriteStream(path)])
}

/** Removes what processes left that ended in the middle: an interrupted preparation starts over. */
export async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const owner = PARTIAL.exec(name)?.[1]
    if (owner === undefined) continue
    const path = join(directory, name)
    if (!isRunning(Number(owner)) || (await isOld(path))) await rm(path, { force: true })
  }
}

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
  return Date.now() - mtimeMs > ABANDONED_AFTER_MS
}
