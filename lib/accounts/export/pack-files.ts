import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Header } from 'tar'

export interface PackedFile {
  readonly name: string
  readonly text: string
}

/** The block size of the tar format. */
const BLOCK_BYTES = 512

interface PackOptions {
  /** The time of all files, in epoch milliseconds. */
  readonly now: number
  readonly onError: (error: unknown) => void
}

/** Packs the files into a gzipped tar archive. Asks for each file once the one before has been read. */
export function packFiles(
  files: AsyncIterable<PackedFile>,
  { now, onError }: PackOptions,
): ReadableStream<Uint8Array> {
  const packed = pipeline(Readable.from(toBlocks(files, now)), createGzip(), (error) => {
    if (error && !isClientGone(error)) onError(error)
  })
  // safe: a stream of bytes
  return Readable.toWeb(packed) as ReadableStream<Uint8Array>
}

/** Whether the client has closed the connection. */
function isClientGone(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ERR_STREAM_PREMATURE_CLOSE' || error.code === 'ABORT_ERR'
}

async function* toBlocks(files: AsyncIterable<PackedFile>, now: number): AsyncGenerator<Buffer> {
  for await (const { name, text } of files) {
    const content = Buffer.from(text)
    const head = Buffer.alloc(BLOCK_BYTES)
    const size = content.byteLength
    const mtime = new Date(now)
    new Header({ path: name, size, mtime, mode: 0o600, type: 'File' }).encode(head, 0)
    yield head
    yield content
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES)
  }
  yield Buffer.alloc(2 * BLOCK_BYTES)
}
