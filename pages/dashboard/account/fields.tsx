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
