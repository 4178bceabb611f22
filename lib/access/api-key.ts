import { hash, hkdfSync, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyType } from '../contract/account/account-schemas.ts'

const PREFIX: Record<KeyType, string> = { secret: 'sk_live_', publishable: 'pk_live_' }

const RANDOM_BYTES = 28
const CHECKSUM_LENGTH = 8
const KEY = /^[sp]k_live_[0-9a-f]{64}$/
const PREFIX_LENGTH = 16
const ID_LENGTH = 32

/** A new key: its text, which is shown once, and the values to store. */
export type MintedKey = ReturnType<typeof toMinted>

/**
 * Makes a key of 28 random bytes: `sk_live_` or `pk_live_`, 56 hex characters, and 8 more that are
 * the CRC-32 of everything before them. With the checksum, we and secret scanners detect a typo
 * without a look-up.
 */
export function mintKey(type: KeyType): MintedKey {
  return toMinted(type, randomBytes(RANDOM_BYTES))
}

/** Derives a key from `secret` and `purpose`: always the same, so it need not be stored. */
export function deriveKey(type: KeyType, secret: string, purpose: string): MintedKey {
  return toMinted(type, Buffer.from(hkdfSync('sha256', secret, '', purpose, RANDOM_BYTES)))
}

function toMinted(type: KeyType, bytes: Buffer) {
  const body = `${PREFIX[type]}${bytes.toString('hex')}`
  const text = `${body}${checksum(body)}`
  return {
    text,
    id: hash('sha256', `id:${text}`).slice(0, ID_LENGTH),
    hash: hashKey(text),
    prefix: text.slice(0, PREFIX_LENGTH),
  }
}

/** Whether `text` has the format of a key and a correct checksum. */
export function isKeyText(text: string): boolean {
  if (!KEY.test(text)) return false
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** Keys are stored and found by this hash. A fast hash is enough: a key has 224 random bits. */
export function hashKey(text: string): string {
  return hash('sha256', text)
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(CHECKSUM_LENGTH, '0')
}
