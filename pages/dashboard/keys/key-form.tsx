import { SCOPES, type Scope } from '../../../lib/contract/operation.ts'
import {
  Choice,
  describedBy,
  Field,
  Labelled,
  Option,
  type Problem,
  Select,
} from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'

/** The values typed into the form. */
export interface KeyDraft {
  readonly name: string
  readonly type: 'secret' | 'publishable'
  readonly scopes: readonly string[]
  readonly origins: string
  /** In days; empty: as long as the plan lets it. */
  readonly lifetime: string
}

const NOTHING: KeyDraft = { name: '', type: 'secret', scopes: [], origins: '', lifetime: '' }

/** In days. */
const LIFETIMES = [
  ['', 'With the plan: after a year, or never'],
  ['7', 'After 7 days'],
  ['30', 'After 30 days'],
  ['90', 'After 90 days'],
  ['365', 'After 365 days'],
] as const

const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'geo:read': 'Look up addresses',
  'account:read': 'Read keys, sites, usage, telemetry and the audit log',
  'account:write': 'Change keys and sites',
  'billing:read': 'Read the subscription and invoices',
  'billing:write': 'Change the subscription and payment',
}

interface KeyFormProps {
  readonly base: string
  readonly typed?: KeyDraft | undefined
  readonly problem?: Problem | undefined
}

export function KeyForm({ base, typed = NOTHING, problem }: KeyFormProps) {
  const origins = {
    name: 'origins',
    hint: 'One per line, such as https://shop.example or https://*.shop.example',
    problem,
  }
  return (
    <Form action={`${base}/app/keys`} text="Create key">
      <Field
        name="name"
        label="Name"
        value={typed.name}
        maxlength={100}
        placeholder="Production server"
        autocomplete="off"
        problem={problem}
        required
      />
      <fieldset class="choices">
        <legend>Type</legend>
        <Choice type="radio" name="type" value="secret" checked={typed.type === 'secret'}>
          Secret <span class="soft">for servers; keep it private</span>
        </Choice>
        <Choice type="radio" name="type" value="publishable" checked={typed.type !== 'secret'}>
          Publishable{' '}
          <span class="soft">for web pages; look-ups only, from the origins you list</span>
        </Choice>
      </fieldset>
      <fieldset class="choices when-secret">
        <legend>Permissions</legend>
        <p class="hint">
          If you tick none, the key has full access: it may do everything that you may, also change
          your plan.
        </p>
        {SCOPES.map((scope) => (
          <Choice type="checkbox" name="scope" value={scope} checked={typed.scopes.includes(scope)}>
            {SCOPE_LABELS[scope]} <code class="soft">{scope}</code>
          </Choice>
        ))}
      </fieldset>
      <Labelled label="Origins" when="when-publishable" {...origins}>
        <textarea
          id="origins"
          name="origins"
          rows={3}
          placeholder="https://shop.example"
          {...describedBy(origins)}
        >
          {typed.origins}
        </textarea>
      </Labelled>
      <Select name="lifetime" label="Expires" problem={problem}>
        {LIFETIMES.map(([value, text]) => (
          <Option value={value} text={text} chosen={typed.lifetime} />
        ))}
      </Select>
    </Form>
  )
}
