import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Lets Node.js load .tsx files, by compiling them with esbuild; Node.js runs .ts files by itself. The output
 * is cached in the folder of Node's own compile cache, if scripts/node.sh has set one.
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

/** This file runs before all others, so it reports if the packages are not installed. */
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

/** Ends each complete file. A file that was cut off, such as by a power failure, lacks it and is compiled again. */
const END = '\n// end\n'

/** Caches the output under a hash of the source, the version of esbuild and the options. */
function compileOnce(text: string, folder: string): string {
  const inputs = [text, esbuildVersion, JSON.stringify(OPTIONS)].join('\0')
  const file = join(folder, createHash('sha256').update(inputs).digest('hex'))
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
    // Renames the finished file, so that a process that starts at the same time never reads half of it.
    const partial = `${file}.${process.pid}`
    writeFileSync(partial, code)
    renameSync(partial, file)
  } catch {}
}
