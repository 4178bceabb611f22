import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { normaliseEmail } from '../../parts/email-address.ts'

export type KnownDevices = ReturnType<typeof createKnownDevices>

/**
 * Tokens for browsers in which a user has signed in or has set the password. Each such browser has
 * limits of its own, so strangers who use up the account's limits lock nobody out: OWASP, “Slow
 * Down Online Guessing Attacks with Device Cookies”. A token is valid until the password changes,
 * because its signature covers the password's hash. `findHash` returns the hash; '' if there is none.
 */
export function createKnownDevices(secret: string, findHash: (email: string) => Promise<string>) {
  const createSigner = async (email: string) => {
    const hash = await findHash(email)
    return (id: string) =>
      createHmac('sha256', secret).update(`${id} ${email} ${hash}`).digest('base64url')
  }
  /** The id for limits per account: the browser's own if it has a valid token of the account, else the address. */
  const limitId = async (email: string, tokens: string): Promise<string> => {
    const sign = await createSigner(email)
    for (const token of split(tokens)) {
      const [id = '', signature = ''] = token.split('.')
      if (isSame(signature, sign(id))) return `device ${id}`
    }
    return email
  }
  return {
    limitId,
    /** Returns the browser's tokens with one for this account: the one it has, or a new one. */
    remember: async (typed: string, tokens: string): Promise<string> => {
      const email = normaliseEmail(typed)
      if ((await limitId(email, tokens)) !== email) return tokens
      const id = randomBytes(16).toString('base64url')
      const token = `${id}.${(await createSigner(email))(id)}`
      return [token, ...split(tokens)].slice(0, MAX_TOKENS).join(SEPARATOR)
    },
  }
}

/** Separates the tokens of a browser. */
const SEPARATOR = '~'
/** Accounts that one browser is known to. */
const MAX_TOKENS = 5

function split(tokens: string): string[] {
  return tokens.split(SEPARATOR).filter((token) => token !== '')
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
