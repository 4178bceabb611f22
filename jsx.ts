import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Lets Node.js load .tsx files; it runs .ts files by itself. What esbuild makes of them is kept beside
 * Node's own cache of compiled code, if there is one: scripts/node.sh sets it.
 */

const require = createRequire(import.meta.url)
const esbuildVersion = readVersion()
const CACHE = process.env['NODE_COMPILE_CACHE']
const OPTIONS = { loader: 'tsx', jsx: 'automatic', jsxImportSource: 'hono/jsx' } as const

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.tsx')) return nextLoad(url, context)
    const text = readFileSync(fileURLToPath(url), 'utf8')
    const source = CACHE ? compileOnce(text, join(CACHE, 'jsx')) : compile(text)
    return { format: 'module', source, shortCircuit: true }
  },
})

/** This file runs before all others, so it finds out first that no package is installed. */
function readVersion(): string {
  try {
    return require('esbuild/package.json').version
  } catch {
    process.stderr.write('Cannot start: the packages are not installed; run npm ci\n')
    process.exit(1)
  }
}

function compile(text: string): string {
  const esbuild: typeof import('esbuild') = require('esbuild')
  return esbuild.transformSync(text, OPTIONS).code
}

/** Ends each file that was written whole: after a power failure, a file may lack its end. */
const END = '\n// end\n'

/** Keeps the code under a name that depends on all that it is made of. */
function compileOnce(text: string, folder: string): string {
  const made = [text, esbuildVersion, JSON.stringify(OPTIONS)].join('\0')
  const file = join(folder, createHash('sha256').update(made).digest('hex'))
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (kept.endsWith(END)) return kept
  const code = `${compile(text)}${END}`
  keep(file, code, folder)
  return code
}

/** Does nothing if the folder cannot be written. */
function keep(file: string, code: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    // Other processes may start at the same time: after a rename they never see half a file.
    const partial = `${file}.${process.pid}`
    writeFileSync(partial, code)
    renameSync(partial, file)
  } catch {}
}
