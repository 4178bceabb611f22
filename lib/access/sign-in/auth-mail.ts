import type { AccountNotice, LinkMail } from '../../contact/account-mails.ts'

/** A user who resets the password, as stored before the reset. */
export interface ResetUser {
  readonly id: string
  readonly email: string
  readonly emailVerified: boolean
}

/** Queues mails to users. Resolves once they are stored. */
export interface AuthMailer {
  readonly postLink: (
    user: Pick<ResetUser, 'id' | 'email'>,
    kind: LinkMail,
    query: Readonly<Record<string, string>>,
  ) => Promise<void>
  readonly postNotice: (userId: string, notice: AccountNotice) => Promise<void>
}

/** What better-auth passes to its mail callbacks. */
interface AuthMail {
  readonly user: ResetUser
  readonly token: string
}

/**
 * The mail settings of better-auth. No answer waits for the mail server: its duration would reveal whether
 * a user exists.
 */
export function authMail(
  { postLink, postNotice }: AuthMailer,
  hasSuspectKeys: (user: ResetUser) => Promise<boolean>,
) {
  return {
    passwordReset: {
      sendResetPassword: async ({ user, token }: AuthMail) => {
        // The form then proposes to revoke the keys.
        const keys = (await hasSuspectKeys(user)) ? { keys: 'revoke' } : {}
        await postLink(user, 'reset_password', { token, ...keys })
      },
    },
    signUp: {
      onExistingUserSignUp: ({ user }: Pick<AuthMail, 'user'>) =>
        postNotice(user.id, 'account_exists'),
    },
    verification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, token }: AuthMail) =>
        postLink(user, 'verify_email', { verify: token }),
    },
  }
}
