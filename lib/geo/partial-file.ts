import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import * as v from 'valibot'
import { Version } from './file-version.ts'

/** A file that was being downloaded when something interrupted it. */
export interface PartialFile {
  readonly bytes: number
  readonly version: Version
}

const State = v.object({ url: v.string(), version: Version })

/** What is there of `url` at `path`, or undefined where nothing is that can be continued. */
export async function findPartial(path: string, url: string): Promise<PartialFile | undefined> {
  try {
    const state = v.parse(State, JSON.parse(await readFile(statePath(path), 'utf8')))
    const { size: bytes } = await stat(path)
    return state.url === url && bytes > 0 ? { bytes, version: state.version } : undefined
  } catch {
    return undefined // no file, no state, or one that nobody can read: the download starts over
  }
}

/** Empties `path`, first of all: bytes of one version must never stand under another's name. */
export async function startPartial(path: string, url: string, version: Version): Promise<void> {
  await writeFile(path, '')
  await writeFile(statePath(path), `${JSON.stringify({ url, version })}\n`)
}

export async function removePartial(path: string): Promise<void> {
  await rm(path, { force: true })
  await rm(statePath(path), { force: true })
}

function statePath(path: string): string {
  return `${path}.json`
}
