import { Field } from './field.tsx'
import { Notice } from './notice.tsx'

export interface SignInProps {
  readonly base: string
  /** Where to go on to. */
  readonly next: string
  /** What this instance can do for who has no password. */
  readonly offers: { readonly signUp: boolean; readonly reset: boolean }
  readonly email?: string
  readonly done?: string | undefined
  readonly trouble?: string
}

const DONE: Readonly<Record<string, string>> = {
  reset: 'The new password is set. Sign in with it.',
  everywhere: 'You are signed out on all devices.',
  asked: 'If there is an account with this address, a mail with a link is on its way to it.',
}

export function SignIn({ base, next, offers, email = '', done = '', trouble }: SignInProps) {
  const said = DONE[done]
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      {trouble === undefined && said !== undefined && <Notice kind="done">{said}</Notice>}
      <form class="stack" method="post" action={`${base}/app/sign-in`}>
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="E-mail address"
          type="email"
          value={email}
          autocomplete="username"
          required
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          required
        />
        <button type="submit">Sign in</button>
      </form>
      <p class="ways">
        {offers.signUp && <a href={`${base}/app/sign-up`}>Create an account</a>}
        {offers.reset && <a href={`${base}/app/forgot`}>Forgot the password?</a>}
      </p>
    </>
  )
}
