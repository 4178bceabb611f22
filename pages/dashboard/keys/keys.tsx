import type { ApiKeyCreated, ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { Table } from '../../table.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Empty } from '../parts/empty.tsx'
import { PostButton } from '../parts/form.tsx'
import { count, counted } from '../parts/format.ts'
import { Given, undirected } from '../parts/given.tsx'
import { Menu } from '../parts/menu.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { permissionsText } from './permissions.ts'

/** How many keys the plan allows. */
export interface KeyLimit {
  readonly name: string
  readonly maxKeys: number
  /** The keys that count towards it. */
  readonly used: number
}

export interface KeysProps extends PageProps {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  readonly keys: readonly ApiKeyInfo[]
  /** The ids of keys that others replace: they do not count towards the plan. */
  readonly replaced: readonly string[]
  /** The key that was just created; null if none was. */
  readonly created: ApiKeyCreated | null
  /** null if the plan is unknown. */
  readonly limit: KeyLimit | null
}

const DONE: Readonly<Record<string, string>> = {
  revoked: 'Key revoked. It no longer works.',
  renewed: 'Key renewed.',
}

export function Keys(props: KeysProps) {
  const { base, url, keys, replaced, done = '', created, limit, error } = props
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {created !== null && <CreatedKey url={url} created={created} />}
      {keys.length > 0 && (
        <>
          {isReached(limit) && <LimitReached base={base} limit={limit} />}
          <section class="card stacked" aria-label="Keys">
            <Table
              isStacked
              heads={['Name', 'Permissions', 'Last used', 'Expires', 'Actions']}
              rows={keys.map((key) => cellsOf(base, key, replaced.includes(key.id)))}
            />
            {limit !== null && (
              <p class="soft small">
                {count(limit.used)} of {counted(limit.maxKeys, 'key', 'keys')}
              </p>
            )}
          </section>
        </>
      )}
      {keys.length === 0 && created === null && (
        <Empty icon="key-round" title="No keys yet">
          <p>
            A program sends a key with each look-up, so that its requests count towards your plan.
            Create one for each program: you can then revoke it alone.
          </p>
          <CreateLink base={base} />
        </Empty>
      )}
    </>
  )
}

export function CreateLink({ base }: Pick<KeysProps, 'base'>) {
  return (
    <a class="button" href={`${base}/app/keys/new`}>
      Create key
    </a>
  )
}

export function isReached(limit: KeyLimit | null): limit is KeyLimit {
  return limit !== null && limit.used >= limit.maxKeys
}

/** After a downgrade, keys over the new limit keep working; only new ones are refused. */
export function LimitReached({ base, limit }: { readonly base: string; readonly limit: KeyLimit }) {
  return (
    <p>
      The {limit.name} plan allows {counted(limit.maxKeys, 'key', 'keys')}. To create another,{' '}
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

function cellsOf(base: string, key: ApiKeyInfo, isReplaced: boolean) {
  return [
    <KeyName apiKey={key} isReplaced={isReplaced} />,
    key.type === 'publishable' ? <FromOrigins {...key} /> : permissionsText(key.scopes),
    <Time at={key.lastUsedAt} />,
    <Time at={key.expiresAt} precision={isReplaced ? 'minute' : 'day'} />,
    <KeyMenu base={base} apiKey={key} isReplaced={isReplaced} />,
  ]
}

interface KeyProps {
  readonly apiKey: ApiKeyInfo
  readonly isReplaced: boolean
}

function KeyName({ apiKey: key, isReplaced }: KeyProps) {
  return (
    <>
      <Given text={key.name} />{' '}
      <span class="badges">
        {key.type === 'publishable' && <span class="badge">Publishable</span>}
        {isReplaced && <span class="badge near">Replaced</span>}
        {!key.isActive && <span class="badge error">Expired</span>}
      </span>
      <code class="soft under">{key.prefix}…</code>
    </>
  )
}

function FromOrigins({ allowedOrigins }: Pick<ApiKeyInfo, 'allowedOrigins'>) {
  return (
    <>
      Look-ups only <span class="soft under">{allowedOrigins?.join(', ')}</span>
    </>
  )
}

function KeyMenu({ base, apiKey: key, isReplaced }: KeyProps & Pick<KeysProps, 'base'>) {
  const path = `${base}/app/keys/${key.id}`
  const name = undirected(key.name)
  return (
    <Menu
      label={`Actions for ${name}`}
      items={[
        <a href={`${base}/app/usage?key=${key.id}`}>Usage</a>,
        key.expiresAt !== null && !isReplaced && (
          <PostButton action={`${path}/renew`} text="Renew" label={`Renew ${name}`} />
        ),
        key.isActive && !isReplaced && <a href={`${path}/rotate`}>Rotate…</a>,
        <a class="danger" href={`${path}/revoke`}>
          Revoke…
        </a>,
      ]}
    />
  )
}
