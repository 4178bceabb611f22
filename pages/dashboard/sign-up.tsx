import { Field } from './field.tsx'
import { Notice } from './notice.tsx'

export interface SignUpProps {
  readonly base: string
  readonly typed?: { readonly name: string; readonly email: string }
  readonly trouble?: string
}

export function SignUp({ base, typed, trouble }: SignUpProps) {
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      <form class="stack" method="post" action={`${base}/app/sign-up`}>
        <Field
          name="name"
          label="Name"
          value={typed?.name ?? ''}
          maxlength={100}
          autocomplete="name"
          required
        />
        <Field
          name="email"
          label="E-mail address"
          type="email"
          value={typed?.email ?? ''}
          autocomplete="username"
          required
        />
        <NewPassword />
        <button type="submit">Create the account</button>
      </form>
      <p class="ways">
        <a href={`${base}/app/sign-in`}>Sign in instead</a>
      </p>
    </>
  )
}

/** As better-auth wants it. */
export function NewPassword() {
  return (
    <Field
      name="password"
      label="New password"
      type="password"
      hint="At least 8 characters"
      minlength={8}
      maxlength={128}
      autocomplete="new-password"
      required
    />
  )
}
