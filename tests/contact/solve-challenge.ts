import type { ContactChallenge } from '../lib/contract/contact.ts'

/** Solves a challenge with what every browser has, as docs/contact.md shows. */
export async function solveChallenge(challenge: ContactChallenge): Promise<string> {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters
  const password = new Uint8Array([...Buffer.from(nonce, 'hex'), 0, 0, 0, 0])
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt: Buffer.from(salt, 'hex') }
  for (let counter = 0; ; counter++) {
    new DataView(password.buffer).setUint32(password.length - 4, counter)
    const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
    const bits = await crypto.subtle.deriveBits(
      { ...derivation, iterations: cost },
      key,
      keyLength * 8,
    )
    const derivedKey = Buffer.from(bits).toString('hex')
    if (derivedKey.startsWith(keyPrefix)) {
      return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }))
    }
  }
}
