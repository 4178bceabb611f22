import { Field } from './field.tsx'
import { Notice } from './notice.tsx'

interface SignInProps {
  readonly base: string
  /** Where to go on to. */
  readonly next: string
  readonly email?: string
  readonly trouble?: string
}

export function SignIn({ base, next, email = '', trouble }: SignInProps) {
  return (
    <form class="stack" method="post" action={`${base}/app/sign-in`}>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
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
  )
}
