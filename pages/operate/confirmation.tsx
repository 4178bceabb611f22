import { Field } from '../dashboard/parts/field.tsx'
import { Form } from '../dashboard/parts/form.tsx'

interface ConfirmationProps {
  /** The person whom it is about. */
  readonly email: string
  readonly text: string
  readonly button: string
  /** Path to which the form is sent. */
  readonly action: string
  /** Sent along with the form. */
  readonly to: string
  /** Where to go instead. */
  readonly back: string
  /** Whether the operator must type the address of the person. */
  readonly asksAddress?: boolean | undefined
}

/** Asks before something is done. */
export function Confirmation(props: ConfirmationProps) {
  const { email, text, button, action, to, back, asksAddress = false } = props
  return (
    <section class="card" aria-label={email}>
      <p>
        <strong>{email}</strong>
      </p>
      <p>{text}</p>
      <Form
        action={action}
        text={button}
        kind="danger"
        field={{ name: 'to', value: to }}
        instead={{ href: back, text: 'Back' }}
      >
        {asksAddress && (
          <Field
            name="email"
            label="Type the address to confirm"
            autocomplete="off"
            maxlength={320}
            required
          />
        )}
      </Form>
    </section>
  )
}
