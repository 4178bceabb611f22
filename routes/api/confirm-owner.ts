import type { Caller } from '../../lib/access/authenticate.ts'
import { isPassword } from '../../lib/access/sign-in/passwords.ts'
import { findPassword } from '../../lib/access/stored-password.ts'
import { findSecondFactor } from '../../lib/accounts/second-factor/second-factor.ts'
import { spendCode } from '../../lib/accounts/second-factor/spend-code.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'

/** What it takes to confirm who owns an account. */
export type OwnerParts = Pick<Services, 'db' | 'passwordQueue' | 'secondFactors'>

interface Given {
  readonly password?: string | undefined
  readonly code?: string | undefined
}

/**
 * Throws BAD_REQUEST unless the caller has given the password of the account with this e-mail address
 * and, if it has a second factor, a code, which is then spent.
 */
export async function confirmOwner(
  services: OwnerParts,
  { caller, now }: { readonly caller: Caller; readonly now: number },
  email: string,
  { password, code }: Given,
): Promise<void> {
  const { secondFactors } = services
  await confirmPassword(services, email, password)
  if ((await findSecondFactor(secondFactors, caller.userId)) === null) return
  if (code === undefined) throw fieldError('code', 'is missing')
  if (!(await spendCode(secondFactors, { actor: caller, code, now }))) throw wrongCode()
}

/** Throws unless the password is right or the account has none, as one created on the command line. */
export async function confirmPassword(
  { db, passwordQueue }: Pick<OwnerParts, 'db' | 'passwordQueue'>,
  email: string,
  password: string | undefined,
): Promise<void> {
  const hash = (await findPassword(db, email))?.hash ?? null
  if (hash === null) return
  if (password === undefined) throw fieldError('password', 'is missing')
  const checked = await passwordQueue.run(async () => ({
    isRight: await isPassword(password, hash),
  }))
  if (checked === null) {
    throw new ApiError(
      'SERVICE_UNAVAILABLE',
      'Too many passwords are being checked; try again later',
    )
  }
  if (!checked.isRight) throw fieldError('password', 'is not the password of this account')
}

export function wrongCode(): ApiError {
  return fieldError('code', 'is wrong or was used before')
}
