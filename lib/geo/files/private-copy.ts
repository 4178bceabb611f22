import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { copyFile, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWrite } from '../../parts/disk-advice.ts'
import { makeFolder, partialPath, putInPlace, removeOthers } from './replace-file.ts'

/*
 * The operator may truncate or rewrite a database, so the server maps a copy of it, named
 * `copy-<digest of path>-<digest of version>.mmdb`. Only copies of usable versions are kept.
 */

const PREFIX = 'copy-'

type Use<Opened> = (path: string) => Promise<Opened>

/** Opens the copy of this version with `use`. Makes it first, if needed, and keeps it if `use` succeeds. */
export async function openCopy<Opened>(
  directory: string,
  { path, version }: { readonly path: string; readonly version: string },
  use: Use<Opened>,
): Promise<Opened> {
  const prefix = prefixOf(path)
  const name = `${prefix}${digest(version)}.mmdb`
  const known = await openFirst(directory, [name], use)
  if (known !== null) return known
  await makeFolder(directory)
  const partial = partialPath(directory, name)
  const { size } = await statFile(path)
  try {
    await copyFile(path, partial)
    const opened = await use(partial)
    await putInPlace(partial, directory, name)
    await removeOthers(directory, { prefix, name })
    return opened
  } catch (cause) {
    throw explainWrite(join(directory, name), cause, size)
  } finally {
    await rm(partial, { force: true }).catch(() => {}) // an error here would hide that of the copy
  }
}

async function statFile(path: string) {
  const found = await stat(path)
  if (found.isDirectory()) throw new Error('it is a folder; name the files in it')
  return found
}

/** Opens the copy of the last usable version of the file; null if there is none. */
export async function openLastCopy<Opened>(
  directory: string,
  path: string,
  use: Use<Opened>,
): Promise<Opened | null> {
  const prefix = prefixOf(path)
  const names = await readdir(directory).catch(() => [])
  const copies = names.filter((name) => name.startsWith(prefix))
  // A process that was killed may have left an older copy.
  const madeAt = (name: string) =>
    statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return openFirst(
    directory,
    copies.toSorted((a, b) => madeAt(b) - madeAt(a)),
    use,
  )
}

/** Removes the copies of all files but these. Mappings of removed copies stay valid. */
export async function removeUnusedCopies(
  directory: string,
  paths: readonly string[],
): Promise<void> {
  const used = paths.map(prefixOf)
  for (const name of await readdir(directory)) {
    if (!name.startsWith(PREFIX) || used.some((prefix) => name.startsWith(prefix))) continue
    await rm(join(directory, name))
  }
}

/** Opens the first of the files that exists and is usable; null if there is none. */
async function openFirst<Opened>(
  directory: string,
  names: readonly string[],
  use: Use<Opened>,
): Promise<Opened | null> {
  for (const path of names.map((name) => join(directory, name))) {
    if (!existsSync(path)) continue
    const opened = await use(path).catch(() => null)
    if (opened !== null) return opened
  }
  return null
}

function prefixOf(path: string): string {
  return `${PREFIX}${digest(path)}-`
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 12)
}
