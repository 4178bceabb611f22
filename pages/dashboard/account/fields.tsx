import { Field, type Problem } from '../parts/field.tsx'

interface ProblemProps {
  readonly problem?: Problem | undefined
}

export function NameField(given: ProblemProps & { label: string; value: string }) {
  return <Field {...given} name="name" maxlength={100} autocomplete="name" required />
}

export function EmailField(given: ProblemProps & { value?: string; hint?: string }) {
  return (
    <Field
      name="email"
      label="E-mail address"
      type="email"
      autocomplete="username"
      required
      {...given}
    />
  )
}

export function CurrentPassword(given: ProblemProps & { name: string; label: string }) {
  return <Field {...given} type="password" autocomplete="current-password" required />
}

/** The code that an authenticator app shows. */
export function CodeField({ problem }: ProblemProps) {
  return (
    <Field
      name="code"
      label="Code"
      hint="Six digits, from your authenticator app"
      autocomplete="one-time-code"
      inputmode="numeric"
      maxlength={20}
      problem={problem}
      required
    />
  )
}

/** Asks for a code of the second factor, in forms that also ask for the password. */
export function OwnerCode(given: ProblemProps & { name: string }) {
  return (
    <Field
      {...given}
      label="Code of your authenticator app, or a recovery code"
      autocomplete="one-time-code"
      maxlength={100}
      required
    />
  )
}

/** Hidden, beside a new password: password managers save it under this name. */
export function UserName({ email }: { readonly email: string }) {
  return <input type="text" value={email} autocomplete="username" readonly hidden />
}

/** The length limits are those of better-auth. */
export function NewPassword({ problem }: ProblemProps) {
  return (
    <Field
      name="password"
      label="New password"
      type="password"
      hint="At least 8 characters"
      minlength={8}
      maxlength={128}
      autocomplete="new-password"
      problem={problem}
      required
    />
  )
}
