import { randomBytes } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { explainWrite } from '../../parts/disk-advice.ts'
import { isLongUnchanged, removeLeftovers } from '../../parts/process/leftovers.ts'
import { syncPath } from '../../parts/process/sync-path.ts'
import { codeOf } from '../../parts/reason.ts'
import { MB } from '../../parts/size-text.ts'

/** Names of unfinished files: `.partial-<random>-<name>`. */
const PARTIAL = /^\.partial-[\da-f]+-/
/** Free bytes that are enough for each file that Meridian makes itself, including the atlas. */
const ROOM = 300 * MB
/** With the pause between them, five seconds. */
const WINDOWS_TRIES = 50
const RENAME_PAUSE_MS = 100

/**
 * Puts a file into `directory` in one step: `write` fills a file with another name, which is then
 * synced, made read-only and renamed. Readers see the old file or the new one, never a part, and
 * mappings of the old one stay valid. Several processes may do this at once.
 */
export async function replaceFile(
  directory: string,
  name: string,
  write: (path: string) => Promise<void>,
): Promise<string> {
  await makeFolder(directory)
  const partial = partialPath(directory, name)
  try {
    await write(partial)
    return await putInPlace(partial, directory, name)
  } catch (cause) {
    throw explainWrite(join(directory, name), cause, ROOM)
  } finally {
    // An error here would hide that of the write.
    await rm(partial, { force: true }).catch(() => {})
  }
}

/** Makes the folder if it is missing. */
export async function makeFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
  } catch (cause) {
    throw explainWrite(directory, cause)
  }
}

/**
 * Unless the file `name` exists, makes it and removes its older versions, which are the other files
 * that begin with `prefix`. Mappings of those stay valid.
 */
export async function keepVersion(
  directory: string,
  { prefix, name }: { readonly prefix: string; readonly name: string },
  write: (path: string) => Promise<void>,
): Promise<void> {
  if (existsSync(join(directory, name))) return
  await replaceFile(directory, name, write)
  await removeOthers(directory, { prefix, name })
}

/** Removes the files that begin with `prefix`, except `name`. */
export async function removeOthers(
  directory: string,
  { prefix, name }: { readonly prefix: string; readonly name: string },
): Promise<void> {
  for (const other of await readdir(directory)) {
    // Another process may remove it at the same time.
    if (other.startsWith(prefix) && other !== name) {
      await rm(join(directory, other), { force: true })
    }
  }
}

/** The path to write a file to before it is put into `directory`. */
export function partialPath(directory: string, name: string): string {
  return join(directory, `.partial-${randomBytes(8).toString('hex')}-${name}`)
}

/** The last step of `replaceFile`, for callers that first check the file. */
export async function putInPlace(
  partial: string,
  directory: string,
  name: string,
): Promise<string> {
  await syncPath(partial)
  // Windows does not replace read-only files.
  if (process.platform !== 'win32') await chmod(partial, 0o400)
  const path = join(directory, name)
  await renameOver(partial, path)
  await syncPath(directory)
  return path
}

/** Windows replaces no file that a program is reading or replacing, so there it waits a while for their end. */
async function renameOver(from: string, to: string): Promise<void> {
  const tries = process.platform === 'win32' ? WINDOWS_TRIES : 1
  for (let tried = 1; ; tried++) {
    try {
      return await rename(from, to)
    } catch (error) {
      if (tried === tries || codeOf(error) !== 'EPERM') throw error
      await sleep(RENAME_PAUSE_MS)
    }
  }
}

/** Writes `source` to `path`, through `transforms`. */
export async function writeStream(
  path: string,
  source: NodeJS.ReadableStream,
  ...transforms: NodeJS.ReadWriteStream[]
): Promise<void> {
  await pipeline([source, ...transforms, createWriteStream(path)])
}

/** Removes the unfinished files whose names begin with `prefix`. No process may be writing them. */
export function removePartials(directory: string, prefix: string): void {
  removeLeftovers(directory, PARTIAL, (path) =>
    basename(path).replace(PARTIAL, '').startsWith(prefix),
  )
}

/** Removes the unfinished files to which nobody has written for six hours. */
export function removeAbandoned(directory: string): void {
  removeLeftovers(directory, PARTIAL, isLongUnchanged)
}
