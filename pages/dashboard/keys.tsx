import type { ApiKeyCreated, ApiKeyInfo } from '../../lib/contract/account-schemas.ts'
import { Copyable } from './copyable.tsx'
import { KeyForm, type KeyWish } from './key-form.tsx'
import { Notice } from './notice.tsx'
import { Time } from './time.tsx'

export interface KeysProps {
  readonly base: string
  readonly keys: readonly ApiKeyInfo[]
  /** What has just been done, as the address says. */
  readonly done?: string | undefined
  /** The key that has just been made. */
  readonly created?: ApiKeyCreated
  /** What was typed, and could not be made. */
  readonly typed?: KeyWish
  readonly trouble?: string
}

const DONE: Readonly<Record<string, string>> = {
  revoked: 'The key is revoked: it is refused from the next request on.',
  renewed: 'The key is renewed for a year from now.',
}

export function Keys({ base, keys, done = '', created, typed, trouble }: KeysProps) {
  const said = DONE[done]
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      {trouble === undefined && said !== undefined && <Notice kind="done">{said}</Notice>}
      {created !== undefined && <CreatedKey created={created} />}
      {keys.length === 0 ? (
        <p class="lead">No keys yet. Programs need one for every look-up.</p>
      ) : (
        <ul class="items">
          {keys.map((key) => (
            <KeyItem base={base} of={key} />
          ))}
        </ul>
      )}
      <section class="card" aria-labelledby="create">
        <h2 id="create">Create a key</h2>
        <KeyForm base={base} typed={typed} />
      </section>
    </>
  )
}

function CreatedKey({ created }: { readonly created: ApiKeyCreated }) {
  return (
    <Notice kind="done">
      <p>
        <strong>{created.name}</strong> is ready. Copy it now: it is shown only here.
      </p>
      <Copyable id="raw-key" text={created.rawKey} />
    </Notice>
  )
}

function KeyItem({ base, of: key }: { readonly base: string; readonly of: ApiKeyInfo }) {
  const path = `${base}/app/keys/${key.id}`
  return (
    <li class="card item">
      <div class="item-head">
        <h2>{key.name}</h2>
        <span class={`badge ${key.isActive ? 'good' : 'trouble'}`}>
          {key.isActive ? 'Active' : 'Expired'}
        </span>
        <span class="badge">{key.type === 'secret' ? 'Secret' : 'Publishable'}</span>
      </div>
      <p>
        <code>{key.prefix}…</code>
      </p>
      <dl class="facts">
        <div>
          <dt>May do</dt>
          <dd>{key.scopes === null ? 'Everything' : key.scopes.join(', ')}</dd>
        </div>
        {key.allowedOrigins !== null && (
          <div>
            <dt>From</dt>
            <dd>{key.allowedOrigins.join(', ')}</dd>
          </div>
        )}
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={key.createdAt} precision="day" />
          </dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>
            <Time at={key.lastUsedAt} />
          </dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>
            <Time at={key.expiresAt} precision="day" />
          </dd>
        </div>
      </dl>
      <div class="actions">
        <form method="post" action={`${path}/renew`}>
          <button type="submit" class="quiet" aria-label={`Renew ${key.name}`}>
            Renew
          </button>
        </form>
        <details class="confirm">
          <summary aria-label={`Revoke ${key.name}…`}>Revoke…</summary>
          <form method="post" action={`${path}/revoke`}>
            <p>Programs that use this key are refused from the next request on.</p>
            <button type="submit" class="danger">
              Revoke for good
            </button>
          </form>
        </details>
      </div>
    </li>
  )
}
