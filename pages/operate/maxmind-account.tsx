import { Card } from '../dashboard/parts/card.tsx'
import { Field, type Problem } from '../dashboard/parts/field.tsx'
import { Form, PostButton } from '../dashboard/parts/form.tsx'

export interface MaxmindAccountProps {
  readonly base: string
  /** Who gave the account; null: nobody. */
  readonly origin: 'settings' | 'operator' | null
  readonly problem?: Problem | undefined
}

/** Asks for the account with which MaxMind's files are downloaded. What was entered is never shown again. */
export function MaxmindAccount({ base, origin, problem }: MaxmindAccountProps) {
  const action = `${base}/app/operate/databases/maxmind`
  return (
    <Card id="maxmind-title" title="MaxMind's account">
      <p>{TEXTS[origin ?? 'nobody']}</p>
      {origin !== 'settings' && (
        <Form
          action={action}
          text={origin === null ? 'Save the account' : 'Replace the account'}
          kind="quiet"
        >
          <Field
            name="accountId"
            label="Account ID"
            inputmode="numeric"
            autocomplete="off"
            maxlength={20}
            problem={problem}
            required
          />
          <Field
            name="licenseKey"
            label="Licence key"
            type="password"
            autocomplete="off"
            maxlength={100}
            hint="Encrypted in the database, and never shown again."
            problem={problem}
            required
          />
        </Form>
      )}
      {origin === 'operator' && (
        <PostButton action={`${action}/remove`} text="Remove the account" kind="danger" />
      )}
    </Card>
  )
}

const TEXTS = {
  nobody:
    'With a free account of maxmind.com, the server also downloads GeoLite2 City and ASN, which replace the bundled ones.',
  operator: 'An operator has entered the account. Each download uses it.',
  settings: 'MERIDIAN_MAXMIND_ACCOUNT_ID and MERIDIAN_MAXMIND_LICENSE_KEY are set.',
}
