import type { ApiKeyCreated, ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Confirm, PostButton } from '../parts/form.tsx'
import { count, counted } from '../parts/format.ts'
import { Given, undirected } from '../parts/given.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { type KeyDraft, KeyForm } from './key-form.tsx'

export interface KeysProps extends PageProps {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  readonly keys: readonly ApiKeyInfo[]
  /** The key that was just created; null if none was. */
  readonly created: ApiKeyCreated | null
  /** The current plan; null if unknown. */
  readonly plan: { readonly name: string; readonly maxKeys: number } | null
  /** The values typed into a form that was rejected, to show them again. */
  readonly typed?: KeyDraft
}

const DONE: Readonly<Record<string, string>> = {
  revoked: 'Key revoked. It no longer works.',
  renewed: 'Key renewed.',
}

export function Keys(props: KeysProps) {
  const { base, url, keys, done = '', created, plan, error } = props
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {created !== null && <CreatedKey url={url} created={created} />}
      {keys.length === 0 ? (
        created === null && (
          <p class="lead">No keys yet. Your programs need a key to look up addresses.</p>
        )
      ) : (
        <ul class="items">
          {keys.map((key) => (
            <KeyItem base={base} apiKey={key} />
          ))}
        </ul>
      )}
      <Card id="create" title="Create a key">
        {plan !== null && (
          <p class="soft">
            {count(keys.length)} of {counted(plan.maxKeys, 'key', 'keys')}
          </p>
        )}
        <CreateKey {...props} />
      </Card>
    </>
  )
}

/** After a downgrade, keys over the new limit keep working; only new ones are refused. */
function CreateKey({ base, keys, plan, typed, problem }: KeysProps) {
  if (plan === null || keys.length < plan.maxKeys) {
    return <KeyForm base={base} typed={typed} problem={problem} />
  }
  return (
    <p>
      The {plan.name} plan allows {counted(plan.maxKeys, 'key', 'keys')}. To create another,{' '}
      <a href={`${base}/app/billing`}>change your plan</a> or revoke a key.
    </p>
  )
}

function CreatedKey({ url, created }: Pick<KeysProps, 'url'> & { created: ApiKeyCreated }) {
  return (
    <Notice kind="done">
      <p>
        <strong>
          <Given text={created.name} />
        </strong>{' '}
        is ready. Copy the key now: it is shown for ten minutes, and cannot be read later.
      </p>
      <Copyable id="raw-key" text={created.rawKey} />
      {created.type === 'secret' && mayLookUp(created) && (
        <>
          <p>Try it in a terminal:</p>
          <Copyable
            id="first-look-up"
            text={`curl -H "X-API-Key: ${created.rawKey}" ${url}/v1/ip/81.2.69.160`}
          />
        </>
      )}
    </Notice>
  )
}

function mayLookUp({ scopes }: ApiKeyCreated): boolean {
  return scopes === null || scopes.includes('geo:read')
}

function KeyItem({ base, apiKey: key }: { base: string; apiKey: ApiKeyInfo }) {
  const path = `${base}/app/keys/${key.id}`
  const name = undirected(key.name)
  return (
    <li class="card item">
      <div class="item-head">
        <h2>
          <Given text={key.name} />
        </h2>
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
          aria-label={`Usage of ${name}`}
        >
          Usage
        </a>
        {key.expiresAt !== null && (
          <PostButton action={`${path}/renew`} text="Renew" kind="quiet" label={`Renew ${name}`} />
        )}
        <Confirm
          summary="Revoke…"
          label={`Revoke ${name}…`}
          action={`${path}/revoke`}
          text="Revoke permanently"
        >
          <p>Programs that use this key will stop working at once.</p>
        </Confirm>
      </div>
    </li>
  )
}
