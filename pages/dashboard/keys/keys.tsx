import type { ApiKeyCreated, ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Confirm, PostButton } from '../parts/form.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { type KeyDraft, KeyForm } from './key-form.tsx'

export interface KeysProps extends PageProps {
  readonly keys: readonly ApiKeyInfo[]
  /** The key that was just created. */
  readonly created?: ApiKeyCreated
  /** The values typed into a form that was rejected, to show them again. */
  readonly typed?: KeyDraft
}

const DONE: Readonly<Record<string, string>> = {
  revoked: 'Key revoked. It no longer works.',
  renewed: 'Key renewed.',
}

export function Keys({ base, keys, done = '', created, typed, error }: KeysProps) {
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {created !== undefined && <CreatedKey created={created} />}
      {keys.length === 0 ? (
        <p class="lead">No keys yet. Your programs need a key to look up addresses.</p>
      ) : (
        <ul class="items">
          {keys.map((key) => (
            <KeyItem base={base} apiKey={key} />
          ))}
        </ul>
      )}
      <Card id="create" title="Create a key">
        <KeyForm base={base} typed={typed} />
      </Card>
    </>
  )
}

function CreatedKey({ created }: { readonly created: ApiKeyCreated }) {
  return (
    <Notice kind="done">
      <p>
        <strong>{created.name}</strong> is ready. Copy the key now. You cannot see it again.
      </p>
      <Copyable id="raw-key" text={created.rawKey} />
    </Notice>
  )
}

function KeyItem({ base, apiKey: key }: { base: string; apiKey: ApiKeyInfo }) {
  const path = `${base}/app/keys/${key.id}`
  return (
    <li class="card item">
      <div class="item-head">
        <h2>{key.name}</h2>
        <span class={`badge ${key.isActive ? 'good' : 'error'}`}>
          {key.isActive ? 'Active' : 'Expired'}
        </span>
        <span class="badge">{key.type === 'secret' ? 'Secret' : 'Publishable'}</span>
      </div>
      <p>
        <code>{key.prefix}…</code>
      </p>
      <FactList
        facts={[
          ['Permissions', key.scopes?.join(', ') ?? 'Everything'],
          ['Allowed origins', key.allowedOrigins?.join(', ')],
          ['Created', <Time at={key.createdAt} precision="day" />],
          ['Last used', <Time at={key.lastUsedAt} />],
          ['Expires', <Time at={key.expiresAt} precision="day" />],
        ]}
      />
      <div class="actions">
        <a
          class="button quiet"
          href={`${base}/app/usage?key=${key.id}`}
          aria-label={`Usage of ${key.name}`}
        >
          Usage
        </a>
        <PostButton
          action={`${path}/renew`}
          text="Renew"
          kind="quiet"
          label={`Renew ${key.name}`}
        />
        <Confirm
          summary="Revoke…"
          label={`Revoke ${key.name}…`}
          action={`${path}/revoke`}
          text="Revoke permanently"
        >
          <p>Programs that use this key will stop working at once.</p>
        </Confirm>
      </div>
    </li>
  )
}
