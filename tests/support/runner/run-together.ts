import { statfsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describe, run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { LOADER } from '../runtime.ts'
import { processFolder } from '../temp-folder.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Compiled code of the tests, apart from that of servers. */
const COMPILED = join(ROOT, 'node_modules/.cache/compile')
/** The same on every machine, so that a file has the same neighbours everywhere. */
const PROCESSES = 8
const AT_ONCE = 4
/** The server's flags save memory; tests need time. */
const FLAGS = ['--max-semi-space-size=64', ...LOADER]
/** Files in memory: tests open hundreds of databases, and each waits for the disk at every commit. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 2 ** 30
/** Limits each file, and each of its tests. */
const TIMEOUT_MS = 300_000

/**
 * Runs test files in a few processes. Loading the service takes 0.6 s and loading sign-in as long again, so
 * with a process for each file, half of the time is loading.
 */
export async function runTogether(files: readonly string[]): Promise<void> {
  // A folder of this run, since another may go on beside it.
  const folder = processFolder()
  const groups = Map.groupBy(files, (file) => files.indexOf(file) % PROCESSES)
  const entries = [...groups].map(([at, group]) => writeEntry(join(folder, `${at}.mjs`), group))
  if (hasMemory()) process.env['TMPDIR'] = MEMORY
  // Here goes what Windows does not remove before the processes of the tests have ended.
  if (process.platform === 'win32') process.env['TEMP'] = processFolder()
  process.env['NODE_COMPILE_CACHE'] = COMPILED
  const tests = run({ files: entries, concurrency: AT_ONCE, execArgv: FLAGS })
  tests.on('test:fail', () => {
    process.exitCode = 1
  })
  await pipeline(tests.compose(spec), process.stdout, { end: false })
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

function writeEntry(entry: string, files: string[]): string {
  const module = JSON.stringify(import.meta.url)
  writeFileSync(
    entry,
    `import { runInSuites } from ${module}\nrunInSuites(${JSON.stringify(files)})\n`,
  )
  return entry
}

/** Runs each file in a suite of its own, so that its hooks concern only its own tests. */
export function runInSuites(files: readonly string[]): void {
  const require = createRequire(import.meta.url)
  for (const file of files) {
    // Loaded synchronously: tests defined later would not belong to the suite.
    describe(file, { timeout: TIMEOUT_MS }, () => {
      require(join(ROOT, file))
    })
  }
}
