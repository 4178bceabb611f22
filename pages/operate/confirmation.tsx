import { PostButton } from '../dashboard/parts/form.tsx'

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
}

/** Asks before something is done. */
export function Confirmation({ email, text, button, action, to, back }: ConfirmationProps) {
  return (
    <section class="card" aria-label={email}>
      <p>
        <strong>{email}</strong>
      </p>
      <p>{text}</p>
      <div class="actions">
        <PostButton action={action} text={button} kind="danger" field={{ name: 'to', value: to }} />
        <a class="button quiet" href={back}>
          Back
        </a>
      </div>
    </section>
  )
}
