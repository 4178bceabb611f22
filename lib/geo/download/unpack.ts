import { createReadStream, createWriteStream } from 'node:fs'
import { finished, pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { list, type ReadEntry } from 'tar'
import { atMost, MAX_DATABASE_BYTES, TooLarge } from './at-most.ts'

/** Unzips `archive` to `path`. Throws if its CRC or length is wrong, or if it is too large. */
export async function unpackGzip(
  archive: string,
  path: string,
  most = MAX_DATABASE_BYTES,
): Promise<void> {
  const limit = (chunks: AsyncIterable<Buffer>) => atMost(chunks, most)
  await pipeline(createReadStream(archive), createGunzip(), limit, createWriteStream(path))
}

const READ_BYTES = 64 * 1024

/**
 * Writes the only database in the tar file `archive`, gzipped or not, to `path`. Throws if the
 * archive is damaged or does not hold exactly one database, or if that is too large.
 */
export async function unpackTar(
  archive: string,
  path: string,
  most = MAX_DATABASE_BYTES,
): Promise<void> {
  const output = createWriteStream(path)
  let found = 0
  let largest = 0
  const onReadEntry = (entry: ReadEntry) => {
    if (entry.type !== 'File' || !entry.path.endsWith('.mmdb')) return
    found++
    largest = Math.max(largest, entry.size)
    if (found === 1 && largest <= most) entry.pipe(output)
  }
  const read = async () => {
    await list({ file: archive, strict: true, maxReadSize: READ_BYTES, onReadEntry })
    if (found !== 1) throw new Error(`the archive holds ${found} .mmdb files instead of one`)
    if (largest > most) throw new TooLarge(most)
  }
  try {
    await Promise.all([read(), finished(output)])
  } finally {
    // A pending open would make the file after the caller removed it.
    output.destroy()
    if (!output.closed) await new Promise<void>((resolve) => output.once('close', resolve))
  }
}
