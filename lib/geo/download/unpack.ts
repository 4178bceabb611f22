import { createReadStream, createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { list, type ReadEntry } from 'tar'
import { writeStream } from '../files/replace-file.ts'

/** Unzips `archive` to `path`. Throws if its CRC or length is wrong. */
export async function unpackGzip(archive: string, path: string): Promise<void> {
  await writeStream(path, createReadStream(archive), createGunzip())
}

const READ_BYTES = 64 * 1024

/**
 * Writes the only database in the tar file `archive`, gzipped or not, to `path`. Throws if the
 * archive is damaged or does not hold exactly one database.
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
    // A pending open would make the file after the caller removed it.
    output.destroy()
    if (!output.closed) await new Promise<void>((resolve) => output.once('close', resolve))
  }
}
