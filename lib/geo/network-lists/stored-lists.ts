import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../parts/reason.ts'
import { openDatabase } from '../database.ts'
import { replaceFile } from '../files/replace-file.ts'
import { OPTIONAL } from '../files/source-files.ts'
import { compileLists, type ReadList } from './compile-lists.ts'
import { FREE_LISTS, type FreeList } from './free-lists.ts'
import { readNetworks } from './read-networks.ts'

/** File name of the last accepted version of a list, which is in the form of its owner. */
export function storedName({ id }: FreeList): string {
  return `list-${id}`
}

export function storedPath(directory: string, list: FreeList): string {
  return join(directory, storedName(list))
}

/** Compiles the stored lists into the database that a server uses. `now` is in epoch milliseconds. */
export async function compileStored(directory: string, now: number): Promise<void> {
  const lists: ReadList[] = []
  for (const list of FREE_LISTS) {
    const path = storedPath(directory, list)
    if (existsSync(path)) lists.push({ list, networks: await readStored(path, list) })
  }
  if (lists.length === 0) return
  const bytes = compileLists(lists, now)
  await replaceFile(directory, OPTIONAL.lists, async (partial) => {
    await writeFile(partial, bytes)
    await openDatabase(partial, { map: false, regionCode: () => undefined })
  })
}

/** Deletes a damaged file, so that the next download replaces it. */
async function readStored(path: string, list: FreeList) {
  try {
    return readNetworks(list, await readFile(path, 'utf8'))
  } catch (cause) {
    await rm(path, { force: true })
    throw new Error(`Cannot use ${path}: ${reasonOf(cause)}; it was deleted, download again`, {
      cause,
    })
  }
}
