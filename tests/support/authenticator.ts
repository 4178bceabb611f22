/*
 * An authenticator app, written from RFC 6238 with Web Crypto: it shares no code with the service.
 * tests/accounts/second-factor/totp.test.ts compares it with the values of the RFC.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code that an app with this secret (Base32) shows at `now`. */
export async function codeAt(secret: string, now: number): Promise<string> {
  const hmac = { name: 'HMAC', hash: 'SHA-1' }
  const key = await crypto.subtle.importKey('raw', fromBase32(secret), hmac, false, ['sign'])
  const counter = new DataView(new ArrayBuffer(8))
  counter.setUint32(4, now / 30_000)
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter))
  const number = mac.getUint32(mac.getUint8(19) % 16) % 2 ** 31
  return String(number).padStart(6, '0').slice(-6)
}

function fromBase32(text: string): Uint8Array<ArrayBuffer> {
  let bits = 0n
  for (const letter of text) bits = bits * 32n + BigInt(ALPHABET.indexOf(letter))
  const length = Math.floor((text.length * 5) / 8)
  bits >>= BigInt(text.length * 5 - length * 8)
  const hex = bits.toString(16).padStart(length * 2, '0')
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}
