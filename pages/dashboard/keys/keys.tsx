import type { ApiKeyCreated, ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Option, Select } from '../parts/field.tsx'
import { Confirm, Form, PostButton } from '../parts/form.tsx'
import { count, counted } from '../parts/format.ts'
import { Given, undirected } from '../parts/given.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { type KeyDraft, KeyForm } from './key-form.tsx'

export interface KeysProps extends PageProps {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  readonly keys: readonly ApiKeyInfo[]
  /** The ids of keys that others replace: they do not count towards the plan. */
  readonly replaced: readonly string[]
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
  const { base, url, keys, replaced, done = '', created, plan, error } = props
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
            <KeyItem base={base} apiKey={key} isReplaced={replaced.includes(key.id)} />
          ))}
        </ul>
      )}
      <Card id="create" title="Create a key">
        {plan !== null && (
          <p class="soft">
            {count(ofPlan(props))} of {counted(plan.maxKeys, 'key', 'keys')}
          </p>
        )}
        <CreateKey {...props} />
      </Card>
    </>
  )
}

/** After a downgrade, keys over the new limit keep working; only new ones are refused. */
function CreateKey(props: KeysProps) {
  const { base, plan, typed, problem } = props
  if (plan === null || ofPlan(props) < plan.maxKeys) {
    return <KeyForm base={base} typed={typed} problem={problem} />
  }
  return (
    <p>
      The {plan.name} plan allows {counted(plan.maxKeys, 'key', 'keys')}. To create another,{' '}
      <a href={`${base}/app/billing`}>change your plan</a> or revoke a key.
    </p>
  )
}

/** How many keys count towards the plan. */
function ofPlan({ keys, replaced }: KeysProps): number {
  return keys.filter(({ id }) => !replaced.includes(id)).length
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

interface KeyItemProps {
  readonly base: string
  readonly apiKey: ApiKeyInfo
  readonly isReplaced: boolean
}

function KeyItem({ base, apiKey: key, isReplaced }: KeyItemProps) {
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
        {isReplaced && <span class="badge">Replaced</span>}
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
          [
            isReplaced ? 'Works until' : 'Expires',
            <Time at={key.expiresAt} precision={isReplaced ? 'minute' : 'day'} />,
          ],
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
        {key.expiresAt !== null && !isReplaced && (
          <PostButton action={`${path}/renew`} text="Renew" kind="quiet" label={`Renew ${name}`} />
        )}
        {key.isActive && !isReplaced && <Rotate path={path} id={key.id} name={name} />}
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

/** Seconds. */
const GRACE_PERIODS = [
  ['0', 'Not at all'],
  ['3600', 'For an hour'],
  ['86400', 'For a day'],
  ['604800', 'For 7 days'],
  ['2592000', 'For 30 days'],
] as const

function Rotate({ path, id, name }: { path: string; id: string; name: string }) {
  return (
    <details class="confirm">
      <summary aria-label={`Rotate ${name}…`}>Rotate…</summary>
      <Form action={`${path}/rotate`} text="Rotate">
        <p>A new key with the same permissions replaces this one.</p>
        <Select name={`grace-${id}`} label="This key goes on working">
          {GRACE_PERIODS.map(([value, text]) => (
            <Option value={value} text={text} chosen="86400" />
          ))}
        </Select>
      </Form>
    </details>
  )
}
