import { SCOPES, type Scope } from '../../lib/contract/operation.ts'
import { Field } from './field.tsx'

/** What was typed into the form. */
export interface KeyWish {
  readonly name: string
  readonly type: 'secret' | 'publishable'
  readonly scopes: readonly string[]
  readonly origins: string
}

interface KeyFormProps {
  readonly base: string
  readonly typed?: KeyWish | undefined
}

const NOTHING: KeyWish = { name: '', type: 'secret', scopes: [], origins: '' }

const MEANING: Readonly<Record<Scope, string>> = {
  'geo:read': 'Look addresses up',
  'account:read': 'Read keys, sites, usage, telemetry and the audit log',
  'account:write': 'Change keys and sites',
  'billing:read': 'Read the subscription and invoices',
  'billing:write': 'Change the subscription and payment',
}

export function KeyForm({ base, typed = NOTHING }: KeyFormProps) {
  return (
    <form class="stack" method="post" action={`${base}/app/keys`}>
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
        <label>
          <input type="radio" name="type" value="secret" checked={typed.type === 'secret'} />
          <span>
            Secret <span class="soft">for servers, kept out of sight</span>
          </span>
        </label>
        <label>
          <input
            type="radio"
            name="type"
            value="publishable"
            checked={typed.type === 'publishable'}
          />
          <span>
            Publishable <span class="soft">for web pages, look-ups only, from named origins</span>
          </span>
        </label>
      </fieldset>
      <fieldset class="choices when-secret">
        <legend>May do (none ticked: everything)</legend>
        {SCOPES.map((scope) => (
          <label>
            <input
              type="checkbox"
              name="scope"
              value={scope}
              checked={typed.scopes.includes(scope)}
            />
            <span>
              {MEANING[scope]} <code class="soft">{scope}</code>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="field when-publishable">
        <label for="origins">Origins</label>
        <textarea
          id="origins"
          name="origins"
          rows={3}
          placeholder="https://shop.example"
          aria-describedby="origins-hint"
        >
          {typed.origins}
        </textarea>
        <p class="hint" id="origins-hint">
          One per line, such as https://shop.example or https://*.shop.example.
        </p>
      </div>
      <button type="submit">Create key</button>
    </form>
  )
}
