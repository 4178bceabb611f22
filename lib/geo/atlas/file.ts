import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { VERSION } from '../../config/version.ts'
import type { GeoDatabase } from '../database.ts'
import { openBytes } from '../files/mapped-file.ts'
import { PREPARED } from '../files/prepare.ts'
import { keepVersion, removePartials } from '../files/replace-file.ts'
import { fileVersion, type SourceFile } from '../files/source-files.ts'
import { type Atlas, openAtlas } from './atlas.ts'
import { codeHash } from './code-hash.ts'
import { writeAtlas } from './compile.ts'

const PREFIX = 'atlas-'

/**
 * Opens the atlas of these files. Returns null if it has not been made or cannot be mapped. Deletes a
 * damaged one, so that it is made again.
 */
export async function findAtlas(
  directory: string,
  files: readonly SourceFile[],
): Promise<Atlas | null> {
  const path = join(directory, nameOf(directory, files))
  if (!existsSync(path)) return null
  const { bytes } = await openBytes(path, true)
  try {
    return openAtlas(bytes)
  } catch {
    await rm(path, { force: true })
    return null
  }
}

/**
 * Makes the atlas of these files, unless it exists, and removes the atlases of other files and
 * unfinished ones. Only one process may do this at a time.
 */
export async function makeAtlas(
  directory: string,
  files: readonly SourceFile[],
  databases: readonly GeoDatabase[],
  onProgress: (share: number) => void,
): Promise<void> {
  const name = nameOf(directory, files)
  removePartials(directory, PREFIX)
  await keepVersion(directory, { prefix: PREFIX, name }, async (path) => {
    await writeAtlas(path, databases, onProgress)
    onProgress(1)
  })
}

/** The name depends on the files, on the code that reads them, and on the release, which has its packages. */
function nameOf(directory: string, files: readonly SourceFile[]): string {
  const reader = [codeHash(), VERSION, fileVersion(join(directory, PREPARED.regions))]
  const signature = JSON.stringify([reader, files.map(({ name, version }) => [name, version])])
  return `${PREFIX}${hash('sha256', signature).slice(0, 16)}.bin`
}
