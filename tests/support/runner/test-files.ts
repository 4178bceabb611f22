import { globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, sep } from 'node:path'

/** The test files of a kind, or those of them that the paths (files, folders, globs) choose. */
export function testFiles(kind: string, chosen: readonly string[]): string[] {
  const all = globSync(`tests/**/*.${kind}.ts`).toSorted()
  return all.filter((file) => chosen.length === 0 || chosen.some((path) => has(path, file)))
}

function has(path: string, file: string): boolean {
  return file.startsWith(join(path, sep)) || matchesGlob(file, path)
}

/**
 * How a test runs otherwise than the others of its kind, which a comment line of its file says:
 * - `// run: alone`, because it measures memory or time or needs the whole machine. Other runtimes do not run it.
 * - `// run: only on Node.js`, because what it tests does not depend on the runtime.
 * - `// run: only on SQLite`, although it makes a database; the line goes on with the reason.
 */
export const MARKS = ['alone', 'only on Node.js', 'only on SQLite'] as const

export function isMarked(file: string, mark: (typeof MARKS)[number]): boolean {
  return readFileSync(file, 'utf8').includes(`\n// run: ${mark}`)
}

/** These functions open the database that MERIDIAN_TEST_DATABASE chooses. The brackets keep this file from matching. */
const OPENS_DATABASE = /\b([m]akeApp|[s]toreOfTest)\b/
const DEFINITIONS = ['helpers.ts', 'database/store.ts'].map((file) => join('tests/support', file))
const IMPORTS = /^import (?!type )[^']*'(\.[^']+)'/gm

/** Whether the test opens a database that may be of either kind, by itself or by what it imports from tests. */
export function makesDatabase(file: string): boolean {
  if (!file.startsWith(join('tests', sep)) || DEFINITIONS.includes(file)) return false
  const text = readFileSync(file, 'utf8')
  return OPENS_DATABASE.test(text) || importsOf(file, text).some(makesDatabase)
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(IMPORTS)].map(([, path = '']) => join(dirname(file), path))
}
