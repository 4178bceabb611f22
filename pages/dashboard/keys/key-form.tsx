import { SCOPES, type Scope } from '../../../lib/contract/operation.ts'
import { Choice, Field, Labelled } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'

/** The values typed into the form. */
export interface KeyDraft {
  readonly name: string
  readonly type: 'secret' | 'publishable'
  readonly scopes: readonly string[]
  readonly origins: string
}

const NOTHING: KeyDraft = { name: '', type: 'secret', scopes: [], origins: '' }

const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'geo:read': 'Look up addresses',
  'account:read': 'Read keys, sites, usage, telemetry and the audit log',
  'account:write': 'Change keys and sites',
  'billing:read': 'Read the subscription and invoices',
  'billing:write': 'Change the subscription and payment',
}

export function KeyForm({ base, typed = NOTHING }: { base: string; typed?: KeyDraft | undefined }) {
  return (
    <Form action={`${base}/app/keys`} text="Create key">
      <Field
        name="name"
        label="Name"
        value={typed.name}
        maxlength={100}
        placeholder="Production server"
        autocomplete="off"
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
        <legend>Permissions (tick none to allow everything)</legend>
        {SCOPES.map((scope) => (
          <Choice type="checkbox" name="scope" value={scope} checked={typed.scopes.includes(scope)}>
            {SCOPE_LABELS[scope]} <code class="soft">{scope}</code>
          </Choice>
        ))}
      </fieldset>
      <Labelled
        name="origins"
        label="Origins"
        hint="One per line, such as https://shop.example or https://*.shop.example"
        when="when-publishable"
      >
        <textarea
          id="origins"
          name="origins"
          rows={3}
          placeholder="https://shop.example"
          aria-describedby="origins-hint"
        >
          {typed.origins}
        </textarea>
      </Labelled>
    </Form>
  )
}
