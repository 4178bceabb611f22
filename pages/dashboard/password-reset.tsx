import { Field } from './field.tsx'
import { Notice } from './notice.tsx'
import { NewPassword } from './sign-up.tsx'

interface AskForResetProps {
  readonly base: string
  /** Whether this instance sends mail. */
  readonly canMail: boolean
  readonly trouble?: string | undefined
}

export function AskForReset({ base, canMail, trouble }: AskForResetProps) {
  if (!canMail) {
    return (
      <p>
        This instance sends no mail. Ask who runs it: <code>npm run user</code> can help.
      </p>
    )
  }
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      <form class="stack" method="post" action={`${base}/app/forgot`}>
        <Field
          name="email"
          label="E-mail address"
          type="email"
          hint="A link to choose a new password goes there. It is good for an hour."
          autocomplete="username"
          required
        />
        <button type="submit">Send the link</button>
      </form>
      <p class="ways">
        <a href={`${base}/app/sign-in`}>Sign in instead</a>
      </p>
    </>
  )
}

interface ResetPasswordProps {
  readonly base: string
  /** Of the mail; null: it was no good. */
  readonly token: string | null
  readonly trouble?: string | undefined
}

export function ResetPassword({ base, token, trouble }: ResetPasswordProps) {
  if (token === null) {
    return (
      <>
        <Notice kind="trouble">This link is used or too old.</Notice>
        <p class="ways">
          <a href={`${base}/app/forgot`}>Ask for another one</a>
        </p>
      </>
    )
  }
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      <form class="stack" method="post" action={`${base}/app/reset`}>
        <input type="hidden" name="token" value={token} />
        <NewPassword />
        <button type="submit">Set the password</button>
      </form>
    </>
  )
}
