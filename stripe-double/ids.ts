import { randomBytes } from 'node:crypto'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** A random id in Stripe's format, unique even across restarts of the double. */
export function newId(prefix: string, length = 24): string {
  let text = ''
  for (const byte of randomBytes(length)) text += LETTERS[byte % LETTERS.length]
  return `${prefix}_${text}`
}

/** A secret that signs the events for one endpoint. */
export function newSigningSecret(): string {
  return newId('whsec', 32)
}

/** A test mode key. The double accepts any of them. */
export function newSecretKey(): string {
  return newId('sk_test')
}
