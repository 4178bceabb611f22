import type { ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Option, Select } from '../parts/field.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import { Given } from '../parts/given.tsx'
import { Time } from '../parts/time.tsx'

interface QuestionProps {
  readonly base: string
  readonly apiKey: ApiKeyInfo
}

/** Seconds. */
const GRACE_PERIODS = [
  ['0', 'Not at all'],
  ['3600', 'For an hour'],
  ['86400', 'For a day'],
  ['604800', 'For 7 days'],
  ['2592000', 'For 30 days'],
] as const

export function RotateKey({ base, apiKey: key }: QuestionProps) {
  return (
    <Card id="question" title={<Given text={key.name} />}>
      <Form action={`${base}/app/keys/${key.id}/rotate`} text="Rotate" instead={toKeys(base)}>
        <p>
          The key <code>{key.prefix}…</code> is replaced by a new one with the same permissions,
          which the next page shows.
        </p>
        <Select name="grace" label="The old key goes on working">
          {GRACE_PERIODS.map(([value, text]) => (
            <Option value={value} text={text} chosen="86400" />
          ))}
        </Select>
      </Form>
    </Card>
  )
}

export function RevokeKey({ base, apiKey: key }: QuestionProps) {
  return (
    <Card id="question" title={<Given text={key.name} />}>
      <p>
        Programs that use <code>{key.prefix}…</code> will stop working at once. Last used:{' '}
        <Time at={key.lastUsedAt} />
      </p>
      <PostButton
        action={`${base}/app/keys/${key.id}/revoke`}
        text="Revoke permanently"
        kind="danger"
        instead={toKeys(base)}
      />
    </Card>
  )
}

export function toKeys(base: string) {
  return { href: `${base}/app/keys`, text: 'Back to the keys' }
}
