import { once } from '../parts/once.ts'

/** XChaCha20-Poly1305, as better-auth keeps secrets of its own. */
const load = once(() => import('better-auth/crypto'))

/** Encrypts bytes for the database or a browser. */
export async function seal(key: string, bytes: Buffer): Promise<string> {
  return (await load()).symmetricEncrypt({ key, data: bytes.toString('base64') })
}

/** Rejects if the text was not sealed with this key. */
export async function unseal(key: string, text: string): Promise<Buffer> {
  return Buffer.from(await (await load()).symmetricDecrypt({ key, data: text }), 'base64')
}
