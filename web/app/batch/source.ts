import { decodeList } from '../../../lib/address-lists/decode.ts'
import { HEAD_CHARACTERS } from '../../../lib/address-lists/form.ts'
import { createPause } from './pause.ts'

/** The start of a list, by which its form is recognised. */
export async function readHead(source: Blob): Promise<string> {
  let head = ''
  for await (const text of decodeList(bytesOf(source.slice(0, HEAD_BYTES)))) head += text
  return head
}

/** A character takes at most four bytes. */
const HEAD_BYTES = 4 * HEAD_CHARACTERS
/** Browsers read files in parts of up to some megabytes, which take too long at once. */
const PART_BYTES = 65_536

/**
 * The text of a list, in chunks. Pauses between them, so that the page stays responsive. Throws an Error if the
 * file can no longer be read, or once the signal is aborted.
 */
export async function* textOf(source: Blob, signal: AbortSignal): AsyncGenerator<string> {
  const pause = createPause()
  for await (const text of decodeList(bytesOf(source))) {
    signal.throwIfAborted()
    yield text
    await pause()
  }
}

async function* bytesOf(source: Blob): AsyncGenerator<Uint8Array> {
  const reader = source.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw new Error('The file cannot be read. Choose it again.')
      })
      if (done) return
      for (let at = 0; at < value.length; at += PART_BYTES) {
        yield value.subarray(at, at + PART_BYTES)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
