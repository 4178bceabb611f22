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

/**
 * Whether a password of at least eight characters is easy to guess. Ignores case, and forms of letters
 * that better-auth makes equal before it hashes them, such as full-width ones.
 */
export async function isEasyToGuess(password: string, email: unknown): Promise<boolean> {
  const text = normalise(password)
  if (typeof email === 'string' && text === normalise(email)) return true
  if (REPETITIVE.test(text) || new Set(text).size < MIN_DISTINCT) return true
  return (await loadCommonPasswords()).has(text)
}

function normalise(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
