import { hash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Geofeed } from '../../config/geofeed-setting.ts'
import { codeOf } from '../../parts/reason.ts'
import { replaceFile } from '../files/replace-file.ts'

/** Names of accepted versions, and of their downloads. */
const NAME = /^(?:\.download-)?(geofeed-[\da-f]{12})(?:\.json)?$/

/** Where a geofeed is kept until it is complete. */
export function downloadPath(directory: string, source: string): string {
  return join(directory, `.download-${storedName(source)}`)
}

/** Reads the last accepted version of a geofeed; undefined if there is none. */
export async function readStored(directory: string, source: string): Promise<Buffer | undefined> {
  try {
    return await readFile(join(directory, storedName(source)))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

export async function store(directory: string, source: string, bytes: Uint8Array): Promise<void> {
  await replaceFile(directory, storedName(source), (partial) => writeFile(partial, bytes))
}

/** Removes the files of all geofeeds but these. */
export async function removeOtherGeofeeds(
  directory: string,
  feeds: readonly Geofeed[],
): Promise<void> {
  const names = new Set(feeds.map(({ source }) => storedName(source)))
  for (const name of await readdir(directory)) {
    const stored = NAME.exec(name)?.[1]
    if (stored !== undefined && !names.has(stored)) await rm(join(directory, name), { force: true })
  }
}

function storedName(source: string): string {
  return `geofeed-${hash('sha256', source).slice(0, 12)}`
}
