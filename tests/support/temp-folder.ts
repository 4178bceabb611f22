import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** Creates a folder that is removed after the tests of the file or suite. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-test-'))
  after(() => remove(folder))
  return folder
}

/** Creates a folder that is removed when the process ends. */
export function processFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-process-'))
  process.on('exit', () => remove(folder))
  return folder
}

/** Folders that Windows keeps because a file in them is still open, such as a database. */
const kept = new Set<string>()

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
    kept.delete(folder)
  } catch (error) {
    if (process.platform !== 'win32') throw error
    if (kept.size === 0) process.once('exit', removeKept)
    kept.add(folder)
  }
}

/** By the end of the process, the tests have closed their files. */
function removeKept(): void {
  for (const folder of kept) remove(folder)
}
