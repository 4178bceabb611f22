import { createReadStream } from 'node:fs'
import { describeForeign } from '../../../lib/geo/mmdb/foreign-file.ts'
import { reasonOf } from '../../../lib/parts/reason.ts'

export const STDIN = '-'

/** The bytes of a file, or of stdin for `-`. Throws an Error that names the file if it cannot be read. */
export async function* readBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* refusingArchives(path === STDIN ? process.stdin : createReadStream(path))
  } catch (cause) {
    throw new Error(`Cannot read ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** Throws an Error for a compressed file. Web pages are texts in which addresses may be. */
async function* refusingArchives(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const part of parts) {
    const foreign = isFirst ? describeForeign(part) : undefined
    if (foreign?.includes('unpack') === true) throw new Error(`it ${foreign}`)
    isFirst = false
    yield part
  }
}

/** The files that a command names, or stdin if it names none. */
export function inputsOf(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [STDIN] : paths
}
