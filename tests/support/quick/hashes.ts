import crypto, { type BinaryLike, type ScryptOptions, type webcrypto } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/*
 * Makes better-auth hash passwords a thousand times as fast as in the service, and challenges be issued and
 * solved a hundred times as fast. The tests hash hundreds of passwords, each for a tenth of a second.
 * Tests that start a server of their own hash as the service does.
 */

type Rest = [
  length: number,
  options: ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
]

const { scrypt, pbkdf2, subtle } = crypto
const deriveBits = subtle.deriveBits.bind(subtle)
const fewer = (iterations: number) => Math.ceil(iterations / 100)

Object.assign(crypto, {
  scrypt: (text: BinaryLike, salt: BinaryLike, ...[length, options, done]: Rest) =>
    scrypt(text, salt, length, { ...options, N: 16 }, done),
  pbkdf2: (...[text, salt, iterations, ...rest]: Parameters<typeof pbkdf2>) =>
    pbkdf2(text, salt, fewer(iterations), ...rest),
})
Object.assign(subtle, {
  deriveBits: (derivation: webcrypto.Pbkdf2Params, ...rest: [webcrypto.CryptoKey, number]) =>
    deriveBits({ ...derivation, iterations: fewer(derivation.iterations) }, ...rest),
})
syncBuiltinESMExports()
