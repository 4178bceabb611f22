import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Log } from '../log/log.ts'

/** Open files besides those of connections: databases, downloads, requests to other services. */
const OWN_FILES = 200

/** Warns if this process may not open enough files for so many connections. */
export async function checkFileLimit(connections: number, log: Log): Promise<void> {
  const files = await findTooFewFiles(connections)
  if (files === null) return
  log.warn(
    files,
    'the limit on open files is too low for MERIDIAN_MAX_CONNECTIONS: raise ulimit -Hn',
  )
}

/** How many files this process may open, and needs for so many connections; null: it may open enough. */
export async function findTooFewFiles(connections: number) {
  const needed = connections + OWN_FILES
  const limit = await readFileLimit()
  return limit >= needed ? null : { limit, needed }
}

/** Asks a shell, which inherits the limit on every system and runtime. Infinity: none or unknown. */
async function readFileLimit(): Promise<number> {
  // Windows has no such limit, but the shell of Git for Windows answers with its own.
  if (process.platform === 'win32') return Number.POSITIVE_INFINITY
  try {
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n'])
    return Number(stdout) || Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
