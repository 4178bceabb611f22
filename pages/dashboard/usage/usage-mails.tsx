import {
  MAX_RECEIVERS,
  MAX_THRESHOLDS,
  type UsageMails as Settings,
  type UsageReceiver,
} from '../../../lib/contract/account/usage-mails.ts'
import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'

interface UsageMailsProps extends PageProps {
  readonly settings: Settings
  /** Whether this service sends mail. */
  readonly canMail: boolean
  /** What was typed into a form that was refused. */
  readonly typed?: Readonly<Record<string, string>> | undefined
}

const DONE: Readonly<Record<string, string>> = {
  set: 'Saved.',
  added: 'The receiver has a mail with a link, which works for a week.',
  removed: 'Receiver removed.',
}

/** When mails about usage come, and who gets them. */
export function UsageMails({
  base,
  settings,
  done = '',
  error,
  canMail,
  ...shown
}: UsageMailsProps) {
  const { typed = {}, problem } = shown
  const { thresholds, receivers } = settings
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {!canMail && <Notice kind="hint">This service sends no mail.</Notice>}
      <Card id="when" title="When mails come">
        <Form action={`${base}/app/usage/mails`} text="Save" kind="quiet">
          <Field
            name="thresholds"
            label="At these shares of the monthly cap, in per cent"
            value={typed['thresholds'] ?? thresholds.join(', ')}
            hint={`Up to ${MAX_THRESHOLDS} whole numbers, such as 50, 80, 100. Empty: no mails about the cap. The mail about a spending cap always comes.`}
            maxlength={100}
            autocomplete="off"
            problem={problem}
          />
        </Form>
      </Card>
      <Card id="receivers" title="Further receivers">
        <p class="soft">
          They get the same mails as you, once they have agreed by the link in a first mail. An
          address that does not agree, or that you remove, can be asked again a week later.
        </p>
        {receivers.length > 0 && (
          <ul class="items">
            {receivers.map((receiver) => (
              <Receiver base={base} receiver={receiver} />
            ))}
          </ul>
        )}
        {receivers.length < MAX_RECEIVERS ? (
          <Form action={`${base}/app/usage/mails/receivers`} text="Add" kind="quiet">
            <Field
              name="email"
              label="E-mail address"
              type="email"
              value={typed['email'] ?? ''}
              autocomplete="off"
              maxlength={254}
              problem={problem}
              required
            />
          </Form>
        ) : (
          <p>There can be {MAX_RECEIVERS}. To add another, remove one.</p>
        )}
      </Card>
    </>
  )
}

interface ReceiverProps {
  readonly base: string
  readonly receiver: UsageReceiver
}

function Receiver({ base, receiver: { id, email, confirmed } }: ReceiverProps) {
  return (
    <li class="item">
      <div class="item-head">
        <strong>{email}</strong>
        <span class="soft small">{confirmed ? 'Gets mails' : 'Has not agreed yet'}</span>
      </div>
      <PostButton
        action={`${base}/app/usage/mails/receivers/${id}/remove`}
        text="Remove"
        label={`Remove ${email}`}
        kind="quiet"
      />
    </li>
  )
}

interface ReceiverPageProps {
  readonly base: string
  /** The address of the user who has named the receiver. */
  readonly account: string
  readonly email: string
  /** From the link in the mail. */
  readonly secret: string
}

/** Opening the link changes nothing, since mail scanners open links too. */
export function ConfirmReceiver({ base, account, email, secret }: ReceiverPageProps) {
  return (
    <>
      <p>
        <strong>{account}</strong> wants <strong>{email}</strong> to get a mail when the requests of
        this account near their limit.
      </p>
      <Form
        action={`${base}/app/usage-mails`}
        text="Get these mails"
        field={{ name: 'token', value: secret }}
      />
    </>
  )
}
