import { decodeList } from '../../../lib/list/decode.ts'
import { HEAD_CHARACTERS } from '../../../lib/list/form.ts'

/** The start of a list, by which its form is recognised. */
export async function readHead(source: Blob): Promise<string> {
  let head = ''
  for await (const text of decodeList(bytesOf(source.slice(0, HEAD_BYTES)))) head += text
  return head
}

/** A character takes at most four bytes. */
const HEAD_BYTES = 4 * HEAD_CHARACTERS
const SLICE_MS = 20

/**
 * The text of a list, in chunks. After a slice of time the page can answer to the user. Throws an Error if the file
 * cannot be read any more, or once the signal is aborted.
 */
export async function* textOf(source: Blob, signal: AbortSignal): AsyncGenerator<string> {
  let end = performance.now() + SLICE_MS
  for await (const text of decodeList(bytesOf(source))) {
    signal.throwIfAborted()
    yield text
    if (performance.now() < end) continue
    await nextTask()
    end = performance.now() + SLICE_MS
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve)
  })
}

async function* bytesOf(source: Blob): AsyncGenerator<Uint8Array> {
  const reader = source.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw new Error('The file cannot be read. Choose it again.')
      })
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
