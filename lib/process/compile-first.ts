import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import nodeModule from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { MINUTE_MS } from '../durations.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const ROOMS = ['admin', 'lib', 'pages', 'routes']

/**
 * Compiles the server's code in a process of its own, unless that was done since the code changed. A
 * thread that has to compile TypeScript by itself keeps the compiler in memory: 18 MB. Does nothing
 * where compiled code is not kept (scripts/node.sh). Without a result, each thread compiles.
 */
export async function compileFirst(): Promise<void> {
  const note = findNote()
  if (note === undefined || note.text === readIfThere(note.file)) return
  const command = [...process.execArgv, 'scripts/parts/compile.ts']
  const options = { cwd: ROOT, timeout: MINUTE_MS }
  await promisify(execFile)(process.execPath, command, options).catch(() => {})
}

/** Keeps what this process has compiled, which must be all code, and notes that. */
export function noteCompiled(): void {
  const note = findNote()
  if (note === undefined) return
  nodeModule.flushCompileCache()
  writeFileSync(note.file, note.text)
}

/** The text changes whenever a file of the code is added, changed or removed. */
function findNote() {
  // Deno and Bun keep no compiled code, and Deno has no such function.
  const folder = nodeModule.getCompileCacheDir?.()
  if (folder === undefined) return undefined
  const entries = ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true }),
  )
  const files = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  const times = files.map((file) => `${file} ${statSync(file).mtimeMs}`)
  return { file: join(folder, `all-${hash(ROOT)}`), text: hash(times.join('\n')) }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
