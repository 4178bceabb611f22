import { Field, type Problem } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Block } from '../parts/group.tsx'
import { type PageProps, Result } from '../parts/notice.tsx'
import { CurrentPassword, OwnerCode } from './fields.tsx'

interface EmailFormProps {
  readonly base: string
  /** Whether the new address gets a link first. */
  readonly canMail: boolean
  readonly asksCode: boolean
  readonly problem?: Problem | undefined
}

export function EmailForm({ base, canMail, asksCode, problem }: EmailFormProps) {
  const hint = canMail
    ? 'It gets a link to confirm the change. You are signed out on all other devices.'
    : 'You are signed out on all other devices.'
  return (
    <Block id="email-title" title="E-mail address">
      <Form action={`${base}/app/account/email`} text="Change address" kind="quiet">
        <Field
          name="newEmail"
          label="New e-mail address"
          type="email"
          autocomplete="email"
          maxlength={254}
          hint={hint}
          problem={problem}
          required
        />
        <CurrentPassword name="emailPassword" label="Your password" problem={problem} />
        {asksCode && <OwnerCode name="emailCode" problem={problem} />}
      </Form>
    </Block>
  )
}

export interface ConfirmEmailProps extends PageProps {
  readonly email: string
  /** From the link in the mail. */
  readonly token: string
}

/** Opening the link changes nothing, since mail scanners open links too. */
export function ConfirmEmail({ base, email, token, error }: ConfirmEmailProps) {
  return (
    <>
      <Result error={error} />
      <p>
        Use <strong>{email}</strong> for this account?
      </p>
      <Form
        action={`${base}/app/account/email/confirm`}
        text="Use this address"
        field={{ name: 'token', value: token }}
      >
        <input type="hidden" name="email" value={email} />
      </Form>
    </>
  )
}
