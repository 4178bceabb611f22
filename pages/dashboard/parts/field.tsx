import type { Child } from 'hono/jsx'

interface LabelledProps {
  readonly name: string
  readonly label: string
  readonly hint?: Child
  /** The style sheet hides the field unless this choice is made; default: always shown. */
  readonly when?: 'when-publishable' | 'when-custom' | undefined
  readonly children?: Child
}

/** A control with a label above and a hint below. */
export function Labelled({ name, label, hint, when, children }: LabelledProps) {
  return (
    <div class={when === undefined ? 'field' : `field ${when}`}>
      <label for={name}>{label}</label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface FieldProps extends Omit<LabelledProps, 'children'> {
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'date'
  readonly value?: string
  readonly autocomplete?: string
  readonly inputmode?: 'numeric'
  readonly maxlength?: number
  readonly minlength?: number
  readonly placeholder?: string
  readonly required?: true
}

export function Field({ name, label, hint, when, type = 'text', ...input }: FieldProps) {
  return (
    <Labelled name={name} label={label} hint={hint} when={when}>
      <input
        id={name}
        name={name}
        type={type}
        aria-describedby={hint === undefined ? undefined : `${name}-hint`}
        {...input}
      />
    </Labelled>
  )
}

export function Select({ name, label, children }: Omit<LabelledProps, 'hint' | 'when'>) {
  return (
    <Labelled name={name} label={label}>
      <select id={name} name={name}>
        {children}
      </select>
    </Labelled>
  )
}

interface OptionProps {
  readonly value: string
  readonly text: string
  /** The selected value. */
  readonly chosen: string
}

export function Option({ value, text, chosen }: OptionProps) {
  return (
    <option value={value} selected={value === chosen}>
      {text}
    </option>
  )
}

interface ChoiceProps {
  readonly type: 'checkbox' | 'radio'
  readonly name: string
  readonly value: string
  readonly checked: boolean
  readonly required?: true
  readonly children?: Child
}

/** A box or a radio button with its label. */
export function Choice({ children, ...input }: ChoiceProps) {
  return (
    <label>
      <input {...input} />
      <span>{children}</span>
    </label>
  )
}
