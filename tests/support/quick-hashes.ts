import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/*
 * Makes better-auth hash passwords a thousand times as fast as in the service. The tests hash
 * hundreds of them, each for a tenth of a second. Tests that start a server of their own hash as
 * the service does.
 */

type Rest = [
  length: number,
  options: ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
]

const { scrypt } = crypto

Object.assign(crypto, {
  scrypt: (text: BinaryLike, salt: BinaryLike, ...[length, options, done]: Rest) =>
    scrypt(text, salt, length, { ...options, N: 16 }, done),
})
syncBuiltinESMExports()
