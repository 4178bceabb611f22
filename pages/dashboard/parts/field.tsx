import type { Child } from 'hono/jsx'

/** What is wrong with a field of a form that was refused. */
export interface Problem {
  /** The name of the field. */
  readonly field: string
  readonly text: string
}

interface LabelledProps {
  readonly name: string
  readonly label: string
  readonly hint?: Child
  /** The style sheet hides the field unless this choice is made; default: always shown. */
  readonly when?: 'when-secret' | 'when-publishable' | 'when-custom' | undefined
  /** Shown if it is about this field. */
  readonly problem?: Problem | undefined
  readonly children?: Child
}

/** A control with a label above, and what is wrong and a hint below. */
export function Labelled({ name, label, hint, when, problem, children }: LabelledProps) {
  return (
    <div class={when === undefined ? 'field' : `field ${when}`}>
      <label for={name}>{label}</label>
      {children}
      <ProblemOf name={name} problem={problem} />
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

function ProblemOf({ name, problem }: Pick<LabelledProps, 'name' | 'problem'>) {
  if (problem?.field !== name) return null
  return (
    <p class="problem" id={`${name}-problem`} role="alert">
      {problem.text}
    </p>
  )
}

interface ChoicesProps extends Omit<LabelledProps, 'label' | 'hint'> {
  readonly legend: string
}

/** Boxes or radio buttons that belong together. */
export function Choices({ name, legend, when, problem, children }: ChoicesProps) {
  return (
    <fieldset class={when === undefined ? 'choices' : `choices ${when}`}>
      <legend>{legend}</legend>
      {children}
      <ProblemOf name={name} problem={problem} />
    </fieldset>
  )
}

/** The attributes by which a control refers to its hint and to what is wrong. */
export function describedBy({ name, hint, problem }: Omit<LabelledProps, 'label'>) {
  const isWrong = problem?.field === name
  const ids = [isWrong && `${name}-problem`, hint !== undefined && `${name}-hint`].filter(Boolean)
  return {
    'aria-describedby': ids.length === 0 ? undefined : ids.join(' '),
    ...(isWrong && { 'aria-invalid': 'true', autofocus: true }),
  } as const
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

export function Field({ label, when, type = 'text', ...rest }: FieldProps) {
  const { name, hint, problem, ...input } = rest
  return (
    <Labelled name={name} label={label} hint={hint} when={when} problem={problem}>
      <input id={name} name={name} type={type} {...describedBy(rest)} {...input} />
    </Labelled>
  )
}

interface SelectProps extends Omit<LabelledProps, 'hint' | 'when'> {
  readonly autocomplete?: string
  readonly required?: true
}

export function Select({ name, label, problem, children, ...select }: SelectProps) {
  return (
    <Labelled name={name} label={label} problem={problem}>
      <select id={name} name={name} {...describedBy({ name, problem })} {...select}>
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
