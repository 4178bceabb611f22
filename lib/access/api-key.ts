import { hash, hkdfSync, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type KeyType = 'secret' | 'publishable'

const PREFIX = { secret: 'sk_live_', publishable: 'pk_live_' } as const satisfies Record<
  KeyType,
  string
>

const RANDOM_BYTES = 28
const CHECKSUM_LENGTH = 8
const KEY = /^[sp]k_live_[0-9a-f]{64}$/
const DISPLAYED = 16
const ID_LENGTH = 32

/** A new key: its text, shown once, and what is stored of it. */
export interface MintedKey {
  readonly text: string
  readonly id: string
  readonly hash: string
  readonly prefix: string
}

/**
 * Makes a key of 28 random bytes: `sk_live_` or `pk_live_`, 56 hex characters, and the CRC-32 of
 * all before it as 8 more, by which scanners and we tell a typo from a key without a look-up.
 */
export function mintKey(type: KeyType): MintedKey {
  return toMinted(type, randomBytes(RANDOM_BYTES))
}

/** The key that belongs to `secret` and `purpose`: always the same, so that it need not be stored. */
export function deriveKey(type: KeyType, secret: string, purpose: string): MintedKey {
  return toMinted(type, Buffer.from(hkdfSync('sha256', secret, '', purpose, RANDOM_BYTES)))
}

function toMinted(type: KeyType, bytes: Buffer): MintedKey {
  const body = `${PREFIX[type]}${bytes.toString('hex')}`
  const text = `${body}${checksum(body)}`
  return {
    text,
    id: hash('sha256', `id:${text}`).slice(0, ID_LENGTH),
    hash: hashKey(text),
    prefix: text.slice(0, DISPLAYED),
  }
}

/** Whether `text` has the form of a key and its checksum is right. */
export function isKeyText(text: string): boolean {
  if (!KEY.test(text)) return false
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** What a key is stored and found by. A fast hash is right: the key holds 224 random bits. */
export function hashKey(text: string): string {
  return hash('sha256', text)
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(CHECKSUM_LENGTH, '0')
}
