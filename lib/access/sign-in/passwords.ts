import { once } from '../../parts/once.ts'
import { isEasyToGuess, type PasswordOwner } from './common-passwords.ts'

/** The limits of better-auth. */
const PASSWORD_LENGTH = { min: 8, max: 128 } as const

export function hasRightLength({ length }: string): boolean {
  return length >= PASSWORD_LENGTH.min && length <= PASSWORD_LENGTH.max
}

/** better-auth's own functions, for passwords that are set or checked outside its endpoints. */
const load = once(() => import('better-auth/crypto'))

export async function hashPassword(password: string): Promise<string> {
  return (await load()).hashPassword(password)
}

/** Whether the password has this hash. Takes a tenth of a second and 32 MB. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  return (await load()).verifyPassword({ hash, password })
}

/** Why the password may not be set, as a sentence; null if it may. */
export async function whyRefused(password: string, owner: PasswordOwner): Promise<string | null> {
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min) return `The password must have at least ${min} characters`
  if (password.length > max) return `The password must have at most ${max} characters`
  return (await isEasyToGuess(password, owner)) ? 'This password is too easy to guess' : null
}
