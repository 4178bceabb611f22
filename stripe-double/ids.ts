import { randomBytes } from 'node:crypto'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** An id as Stripe's: never the same again, also not after the double has been started anew. */
export function newId(prefix: string, length = 24): string {
  let text = ''
  for (const byte of randomBytes(length)) text += LETTERS[byte % LETTERS.length]
  return `${prefix}_${text}`
}

/** The secret by which one endpoint checks signatures. */
export function newSigningSecret(): string {
  return newId('whsec', 32)
}

/** A key that the double takes, as any other of test mode. */
export function newSecretKey(): string {
  return newId('sk_test')
}
