import { Field } from '../parts/field.tsx'

export function NameField({ label, value }: { label: string; value: string }) {
  return (
    <Field name="name" label={label} value={value} maxlength={100} autocomplete="name" required />
  )
}

export function EmailField(given: { value?: string; hint?: string }) {
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

export function CurrentPassword(given: { name: string; label: string }) {
  return <Field {...given} type="password" autocomplete="current-password" required />
}

/** The code that an authenticator app shows. */
export function CodeField() {
  return (
    <Field
      name="code"
      label="Code"
      hint="Six digits, from your authenticator app"
      autocomplete="one-time-code"
      inputmode="numeric"
      maxlength={20}
      required
    />
  )
}

/** A code that shows, besides the password, who owns the account. */
export function OwnerCode({ name }: { name: string }) {
  return (
    <Field
      name={name}
      label="Code of your authenticator app, or a recovery code"
      autocomplete="one-time-code"
      maxlength={100}
      required
    />
  )
}

/** The length limits are those of better-auth. */
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
