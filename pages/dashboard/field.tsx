import type { Child } from 'hono/jsx'

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'search'
  readonly value?: string
  readonly hint?: Child
  readonly autocomplete?: string
  readonly maxlength?: number
  readonly minlength?: number
  readonly placeholder?: string
  readonly required?: true
}

/** An input with its label and, below, what to know before typing. */
export function Field({ name, label, type = 'text', hint, ...input }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type}
        aria-describedby={hint === undefined ? undefined : `${name}-hint`}
        {...input}
      />
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
