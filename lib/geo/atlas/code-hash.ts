import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { codeUrl } from '../../parts/clone-or-package.ts'

let known: string | undefined

/**
 * A hash of the code that reads records, merges them and writes an atlas: an atlas that other code has made
 * may give other answers.
 */
export function codeHash(): string {
  known ??= hashCode(roots())
  return known
}

/** The addresses of the files with that code. */
export function codeFiles(): string[] {
  return [...reachFrom(roots()).keys()]
}

/** Hashes the files and all of ours that they import, directly or indirectly. */
export function hashCode(files: readonly URL[]): string {
  const hash = createHash('sha256')
  for (const text of reachFrom(files).values()) hash.update(text)
  return hash.digest('hex')
}

function roots(): URL[] {
  return ['./compile', '../database'].map((path) => codeUrl(path, import.meta.url))
}

/** The texts of the files and of all that they import, by address. */
function reachFrom(files: readonly URL[]): Map<string, string> {
  const texts = new Map<string, string>()
  const addresses = new Set(files.map(String))
  for (const address of addresses) {
    const text = readFileSync(new URL(address), 'utf8')
    texts.set(address, text)
    for (const [, path = ''] of text.matchAll(/\bfrom '(\.[^']+)'/g)) {
      addresses.add(String(new URL(path, address)))
    }
  }
  return texts
}
