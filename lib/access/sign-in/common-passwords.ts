import { normaliseEmail, withUnicodeDomain } from '../../parts/email-address.ts'
import { once } from '../../parts/once.ts'

/** better-auth refuses shorter passwords. */
const MIN_LENGTH = 8

/** Loads the list, which takes some megabytes, at the first call. */
export const loadCommonPasswords = once(async () => {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].filter(({ length }) => length >= MIN_LENGTH))
})

/** A short text that is repeated, such as `abcdabcd`. */
const REPETITIVE = /^(.{1,7})\1+$/s
/** `11112222` has two; eight random letters nearly always have at least this many. */
const MIN_DISTINCT = 5

/** Whose password it is. Values of other types, which a body may contain, are ignored. */
export interface PasswordOwner {
  readonly email?: unknown
  readonly name?: unknown
}

/**
 * Whether a password of at least eight characters is easy to guess: a common or repetitive one, or the
 * owner's address, the part of it before the @, or the owner's name. Ignores case, and forms of letters
 * that better-auth makes equal before it hashes them, such as full-width ones.
 */
export async function isEasyToGuess(password: string, owner: PasswordOwner): Promise<boolean> {
  const text = normalise(password)
  if (isOwn(text, owner)) return true
  if (REPETITIVE.test(text) || new Set(text).size < MIN_DISTINCT) return true
  return (await loadCommonPasswords()).has(text)
}

/** NIST SP 800-63B, section 3.1.1.2: context-specific words. Ignores everything but letters and digits. */
function isOwn(text: string, { email, name }: PasswordOwner): boolean {
  const own = [name, ...(typeof email === 'string' ? partsOf(normaliseEmail(email)) : [])]
  const bare = lettersOf(text)
  if (bare === '') return false
  return own.some((word) => typeof word === 'string' && lettersOf(normalise(word)) === bare)
}

/** The address as it is stored and as it is typed, and the part before the @. */
function partsOf(email: string): string[] {
  return [email, withUnicodeDomain(email), email.slice(0, email.lastIndexOf('@'))]
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}

function normalise(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
