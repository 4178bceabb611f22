import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Sessions are stored and found by this hash. A fast hash is enough: a token has 32 random characters. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/**
 * Returns the token; null if its signature is wrong. It is plain, as in the body of the sign-in
 * answer, or signed, as in the `set-auth-token` header: `token.signature`, where the signature is an
 * HMAC-SHA-256 in Base64.
 */
export function readToken(text: string, secret: string): string | null {
  const [token = '', given] = decodeToken(text).split('.', 2)
  if (given === undefined) return token
  const right = createHmac('sha256', secret).update(token).digest()
  const signature = Buffer.from(given, 'base64')
  return signature.length === right.length && timingSafeEqual(signature, right) ? token : null
}

/** Matches any token that better-auth may have issued, and never an API key. */
export const TOKEN = /^(?![sp]k_live_)[\w.~+/=-]{1,512}$/

/** Decodes a token that may be percent-encoded, as in the cookie. */
export function decodeToken(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
