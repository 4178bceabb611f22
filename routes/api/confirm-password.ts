import { findPassword } from '../../lib/access/session.ts'
import { isPassword } from '../../lib/access/sign-in/passwords.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Services } from '../../lib/services/services.ts'

/**
 * Throws BAD_REQUEST unless `password` is that of the account with this e-mail address. Accounts that
 * were made on the command line have none.
 */
export async function confirmPassword(
  { db, passwordQueue }: Services,
  email: string,
  password: string | undefined,
): Promise<void> {
  const hash = (await findPassword(db, email))?.hash ?? null
  if (hash === null) return
  if (password === undefined) throw new ApiError('BAD_REQUEST', 'password is missing')
  const checked = await passwordQueue.run(async () => ({
    isRight: await isPassword(password, hash),
  }))
  if (checked === null) {
    throw new ApiError('SERVICE_UNAVAILABLE', 'Too many passwords are checked now; try again later')
  }
  if (!checked.isRight) throw new ApiError('BAD_REQUEST', 'The password is wrong')
}
