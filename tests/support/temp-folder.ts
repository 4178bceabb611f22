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

/** Windows keeps a folder in which a file is still open; run-together.ts removes it later. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (process.platform !== 'win32') throw error
  }
}
