import { createHmac, randomBytes } from 'node:crypto'

const CODES = 10
const LENGTH = 10
/** Crockford's Base32, which has none of the letters that look like another one. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** New codes of 50 random bits, such as `4t9xw-0mzc7`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    const text = [...randomBytes(LENGTH)].map((byte) => ALPHABET.charAt(byte % 32)).join('')
    return `${text.slice(0, LENGTH / 2)}-${text.slice(LENGTH / 2)}`
  })
}

/** The hash under which a user's code is stored, however it is typed. */
export function hashRecoveryCode(secret: string, userId: string, code: string): string {
  return createHmac('sha256', secret)
    .update(`${userId} ${normalise(code)}`)
    .digest('base64url')
}

function normalise(code: string): string {
  const letters = code.toLowerCase().replaceAll(/[^0-9a-z]/g, '')
  return letters.replaceAll('o', '0').replaceAll(/[il]/g, '1')
}
