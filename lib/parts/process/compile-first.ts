import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { codeUrl } from '../clone-or-package.ts'
import { MINUTE_MS } from '../durations.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const ROOMS = ['admin', 'lib', 'main', 'pages', 'routes']

/**
 * Compiles the server's code in a process of its own, unless that was done since the code changed. A
 * thread that compiles TypeScript itself keeps the compiler in memory: 18 MB. Does nothing if there is
 * no compile cache (scripts/node.sh turns it on). If this fails, each thread compiles.
 */
export async function compileFirst(): Promise<void> {
  try {
    const marker = findMarker()
    if (marker === undefined || marker.text === readIfThere(marker.file)) return
    accessSync(dirname(marker.file), constants.W_OK)
    const command = [
      ...process.execArgv.filter(isHarmless),
      fileURLToPath(codeUrl('../../../scripts/parts/compile', import.meta.url)),
    ]
    await promisify(execFile)(process.execPath, command, { cwd: ROOT, timeout: MINUTE_MS })
  } catch {}
}

/** Passes on the options of V8, on which the result depends, but none that starts a debugger or runs code. */
function isHarmless(option: string): boolean {
  return !/^(--inspect|--eval|--print|-[ep])/.test(option)
}

/** Writes what this process has compiled to the cache, and then a marker file that says so. */
export function markCompiled(): void {
  const marker = findMarker()
  if (marker === undefined) return
  nodeModule.flushCompileCache()
  writeFileSync(marker.file, marker.text)
}

/** The marker file and its text, which changes whenever a file of the code is added, changed or removed. */
function findMarker() {
  // Deno and Bun keep no compiled code, and Deno has no such function.
  const folder = nodeModule.getCompileCacheDir?.()
  if (folder === undefined) return undefined
  const rooms = ROOMS.flatMap((room) => listFiles(join(ROOT, room), { recursive: true }))
  const files = [...listFiles(ROOT), ...rooms].filter((file) => /\.(js|tsx?)$/.test(file)).sort()
  // Hashes, not modification times: those differ in a container image.
  const code = files.map((file) => `${file} ${hash(readFileSync(file))}`)
  return { file: join(folder, `all-${hash(ROOT)}`), text: hash(code.join('\n')) }
}

function listFiles(folder: string, options: { readonly recursive?: boolean } = {}): string[] {
  const entries = readdirSync(folder, { ...options, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

function hash(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
