/** The largest archive that is downloaded: twice the largest that is offered. */
export const MAX_ARCHIVE_BYTES = 2 ** 29
/** The largest database: offsets in the format are at most 32 bits long. */
export const MAX_DATABASE_BYTES = 2 ** 32

/** Passes the chunks on. Throws once they are larger than `most` bytes together. */
export async function* atMost(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > most) throw new TooLarge(most)
    yield chunk
  }
}

export class TooLarge extends Error {
  constructor(most: number) {
    super(`it is larger than ${most} bytes`)
  }
}
