import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { VERSION } from '../version.ts'
import { type Atlas, openAtlas } from './atlas.ts'
import { ATLAS_FORMAT } from './atlas-format.ts'
import { compileAtlas, writeAtlas } from './compile-atlas.ts'
import type { GeoDatabase } from './database.ts'
import { replaceFile } from './file-swap.ts'
import { mapBytes } from './mapped-file.ts'
import { PREPARED } from './prepare.ts'
import { type SourceFile, versionOf } from './source-files.ts'

const PREFIX = 'atlas-'

/** Opens the atlas of these files, if it has been made; null as well where nothing can be mapped. */
export async function findAtlas(
  directory: string,
  files: readonly SourceFile[],
): Promise<Atlas | null> {
  const path = join(directory, nameOf(directory, files))
  if (!existsSync(path)) return null
  const bytes = await mapBytes(path)
  if (bytes === null) return null
  try {
    return openAtlas(bytes)
  } catch {
    await rm(path, { force: true })
    return null
  }
}

/** Makes the atlas of the files, unless it is there, and removes those of other ones. */
export async function makeAtlas(
  directory: string,
  files: readonly SourceFile[],
  databases: readonly GeoDatabase[],
  onProgress: (share: number) => void,
): Promise<void> {
  const name = nameOf(directory, files)
  if (existsSync(join(directory, name))) return
  const compiled = compileAtlas(databases, onProgress)
  await replaceFile(directory, name, (path) => writeAtlas(path, compiled))
  onProgress(1)
  for (const other of await readdir(directory)) {
    if (other.startsWith(PREFIX) && other !== name) await rm(join(directory, other))
  }
}

/** Another name for other files, and for other code that reads them. */
function nameOf(directory: string, files: readonly SourceFile[]): string {
  const made = [ATLAS_FORMAT, VERSION, versionOf(join(directory, PREPARED.regions))]
  const signature = JSON.stringify([made, files.map(({ name, version }) => [name, version])])
  return `${PREFIX}${createHash('sha256').update(signature).digest('hex').slice(0, 16)}.bin`
}
