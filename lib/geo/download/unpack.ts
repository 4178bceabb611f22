import { createReadStream, createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { list, type ReadEntry } from 'tar'
import { writeStream } from './file-swap.ts'

/** Unzips `archive` to `path`. Throws where the CRC or the length at its end does not fit. */
export async function unpackGzip(archive: string, path: string): Promise<void> {
  await writeStream(path, createReadStream(archive), createGunzip())
}

const READ_BYTES = 64 * 1024

/**
 * Writes the one database that the tar file `archive`, gzipped or not, holds to `path`, whatever
 * the archive calls it. Throws where there is none or more than one, or the archive is damaged.
 */
export async function unpackTar(archive: string, path: string): Promise<void> {
  const output = createWriteStream(path)
  let found = 0
  const onReadEntry = (entry: ReadEntry) => {
    if (entry.type !== 'File' || !entry.path.endsWith('.mmdb')) return
    found++
    if (found === 1) entry.pipe(output)
  }
  const read = async () => {
    await list({ file: archive, strict: true, maxReadSize: READ_BYTES, onReadEntry })
    if (found !== 1) throw new Error(`the archive holds ${found} .mmdb files instead of one`)
  }
  try {
    await Promise.all([read(), finished(output)])
  } finally {
    output.destroy()
  }
}
