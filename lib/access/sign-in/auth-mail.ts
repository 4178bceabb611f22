import type { Log } from '../../parts/log/log.ts'
import type { SendMail } from '../../parts/mail.ts'

/** A user who resets the password, as stored before the reset. */
export interface ResetUser {
  readonly id: string
  readonly email: string
  readonly emailVerified: boolean
}

interface AuthMailOptions {
  /** Address of this service, without a slash at the end. */
  readonly baseUrl: string
  readonly hasSuspectKeys: (user: ResetUser) => Promise<boolean>
}

/** What better-auth passes to its mail callbacks. */
interface AuthMail {
  readonly user: ResetUser
  readonly token: string
}

/**
 * The mail settings of better-auth. Links always lead to our forms, whatever page the request
 * names: a stranger may have sent it. Opening a link changes nothing, since mail scanners open
 * links too. No answer waits for the mail server: its duration would reveal whether a user exists.
 */
export function authMail(
  sendMail: SendMail,
  { baseUrl, hasSuspectKeys }: AuthMailOptions,
  log: Pick<Log, 'warn' | 'error'>,
) {
  const send = async (to: string, subject: string, text: string) => {
    sendMail({ to, subject, text }).catch((error: unknown) =>
      log.error({ err: error, subject }, 'cannot send mail'),
    )
  }
  const link = (path: string, query: Readonly<Record<string, string>>) =>
    `${baseUrl}${path}?${new URLSearchParams(query)}`
  return {
    passwordReset: {
      sendResetPassword: async ({ user, token }: AuthMail) => {
        // The form then proposes to revoke the keys.
        const keys = (await hasSuspectKeys(user)) ? { keys: 'revoke' } : {}
        const text = resetText(link('/app/reset', { token, ...keys }))
        await send(user.email, 'Reset your password', text)
      },
    },
    signUp: {
      onExistingUserSignUp: ({ user }: Pick<AuthMail, 'user'>) =>
        send(user.email, EXISTING.subject, EXISTING.text),
    },
    verification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, token }: AuthMail) =>
        send(
          user.email,
          'Verify your e-mail address',
          verificationText(link('/app/sign-in', { verify: token })),
        ),
    },
  }
}

/** The mail to the owner of an account if somebody else asks for its address. */
export const EXISTING = {
  subject: 'You already have an account',
  text: `Somebody tried to use your e-mail address for an account, but it already has one.

If it was you, sign in instead, or ask for a new password. If not, ignore this message.
`,
} as const

function verificationText(link: string): string {
  return `To verify your e-mail address, open this link within an hour and sign in:\n\n${link}\n\nIf you did not sign up, ignore this message.\n`
}

function resetText(link: string): string {
  return `Open this link within an hour to choose a new password:\n\n${link}\n\nIf you did not ask for this, ignore this message.\n`
}
