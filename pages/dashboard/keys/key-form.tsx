import { SCOPES, type Scope } from '../../../lib/contract/operation.ts'
import { Choice, Choices, describedBy, Field, Labelled, Option, Select } from '../parts/field.tsx'
import { Form, Instead } from '../parts/form.tsx'
import { type PageProps, Result } from '../parts/notice.tsx'
import { toKeys } from './key-question.tsx'
import { isReached, type KeyLimit, LimitReached } from './keys.tsx'
import { type Access, PRESETS } from './permissions.ts'

/** The values typed into the form. */
export interface KeyDraft {
  readonly name: string
  readonly type: 'secret' | 'publishable'
  readonly access: Access
  /** If `access` is custom. */
  readonly scopes: readonly string[]
  readonly origins: string
  /** In days; empty: as long as the plan lets it. */
  readonly lifetime: string
}

const NOTHING: KeyDraft = {
  name: '',
  type: 'secret',
  access: 'look-ups',
  scopes: [],
  origins: '',
  lifetime: '',
}

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

export interface NewKeyProps extends PageProps {
  readonly typed?: KeyDraft | undefined
  /** null if the plan is unknown. */
  readonly limit: KeyLimit | null
}

/** The page on which a key is created. */
export function NewKey({ base, limit, typed, error, problem }: NewKeyProps) {
  return (
    <>
      <Result error={error} />
      <section class="card" aria-label="New key">
        {isReached(limit) ? (
          <>
            <LimitReached base={base} limit={limit} />
            <Instead {...toKeys(base)} />
          </>
        ) : (
          <KeyForm base={base} typed={typed} problem={problem} />
        )}
      </section>
    </>
  )
}

function KeyForm({ base, typed = NOTHING, problem }: Omit<NewKeyProps, 'limit' | 'error'>) {
  const origins = {
    name: 'origins',
    hint: 'One per line, such as https://shop.example or https://*.shop.example',
    problem,
  }
  return (
    <Form action={`${base}/app/keys`} text="Create key" instead={toKeys(base)}>
      <Field
        name="name"
        label="Name"
        value={typed.name}
        maxlength={100}
        placeholder="Production server"
        hint="The program that will use it"
        autocomplete="off"
        problem={problem}
        required
      />
      <Choices name="type" legend="Type">
        <Choice type="radio" name="type" value="secret" checked={typed.type === 'secret'}>
          Secret <span class="hint under">For servers. Keep it private.</span>
        </Choice>
        <Choice type="radio" name="type" value="publishable" checked={typed.type !== 'secret'}>
          Publishable{' '}
          <span class="hint under">
            For web pages. Looks up addresses only, from the origins that you list.
          </span>
        </Choice>
      </Choices>
      <Permissions typed={typed} problem={problem} />
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

function Permissions({ typed, problem }: Pick<NewKeyProps, 'problem'> & { typed: KeyDraft }) {
  return (
    <>
      <Choices name="access" legend="Permissions" when="when-secret">
        {Object.entries(PRESETS).map(([access, { name, text }]) => (
          <Choice type="radio" name="access" value={access} checked={typed.access === access}>
            {name} {access === NOTHING.access && <span class="badge">Recommended</span>}{' '}
            <span class="hint under">{text}</span>
          </Choice>
        ))}
        <Choice type="radio" name="access" value="custom" checked={typed.access === 'custom'}>
          Custom
        </Choice>
      </Choices>
      <Choices name="scope" legend="Custom permissions" when="when-custom" problem={problem}>
        {SCOPES.map((scope) => (
          <Choice type="checkbox" name="scope" value={scope} checked={typed.scopes.includes(scope)}>
            {SCOPE_LABELS[scope]} <code class="soft">{scope}</code>
          </Choice>
        ))}
      </Choices>
    </>
  )
}
