import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** A file for browsers, in memory and ready to serve. */
export interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The bytes compressed with gzip, because not every reverse proxy does that. */
  readonly gzipped: Uint8Array<ArrayBuffer>
  /** 16 hexadecimal digits that change with the bytes. */
  readonly hash: string
  /** The hash in the format of Subresource Integrity. */
  readonly integrity: string
}

const compress = promisify(gzip)

export async function toAsset(content: Uint8Array): Promise<Asset> {
  const bytes = new Uint8Array(content)
  return {
    bytes,
    gzipped: new Uint8Array(await compress(bytes, { level: 9 })),
    hash: hashOf(bytes),
    integrity: `sha384-${digest(bytes).toString('base64')}`,
  }
}

/** 16 hexadecimal digits. */
export function hashOf(content: Uint8Array): string {
  return digest(content).toString('hex').slice(0, 16)
}

function digest(content: Uint8Array): Buffer {
  return createHash('sha384').update(content).digest()
}
