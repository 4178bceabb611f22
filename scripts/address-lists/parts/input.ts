import { createReadStream } from 'node:fs'
import { reasonOf } from '../../../lib/parts/reason.ts'

export const STDIN = '-'

/** The bytes of a file, or of stdin for `-`. Throws an Error that names the file if it cannot be read. */
export async function* readBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === STDIN ? process.stdin : createReadStream(path)
  } catch (cause) {
    throw new Error(`Cannot read ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** The files that a command names, or stdin if it names none. */
export function inputsOf(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [STDIN] : paths
}
