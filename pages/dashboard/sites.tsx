import type { Site } from '../../lib/contract/account-schemas.ts'
import { type BeaconCheck, BeaconState } from './beacon-state.tsx'
import { Copyable } from './copyable.tsx'
import { Field } from './field.tsx'
import { Notice } from './notice.tsx'
import { Time } from './time.tsx'
import { counted } from './words.ts'

export interface Snippets {
  /** Always the newest script. */
  readonly newest: string
  /** This version, which browsers check. */
  readonly pinned: string
}

export interface SitesProps {
  readonly base: string
  /** The origin of the service. */
  readonly origin: string
  readonly sites: readonly { readonly site: Site; readonly check: BeaconCheck }[]
  readonly snippets: Snippets
  /** The plan in effect; null: it cannot be told now. */
  readonly plan: { readonly name: string; readonly maxSites: number } | null
  /** What has just been done, as the address says. */
  readonly done?: string | undefined
  /** What was typed, and could not be added. */
  readonly typed?: string
  readonly trouble?: string
}

const DONE: Readonly<Record<string, string>> = {
  added: 'The site is added. Its beacons are accepted from now on.',
  removed: 'The site is removed: its beacons are refused from now on.',
}

export function Sites(props: SitesProps) {
  const { base, origin, sites, snippets, done = '', trouble } = props
  const said = DONE[done]
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      {trouble === undefined && said !== undefined && <Notice kind="done">{said}</Notice>}
      {sites.length === 0 ? (
        <p class="lead">
          No sites yet. A site is the origin of the pages that you want to measure.
        </p>
      ) : (
        <ul class="items">
          {sites.map(({ site, check }) => (
            <SiteItem base={base} site={site} check={check} origin={origin} snippets={snippets} />
          ))}
        </ul>
      )}
      <section class="card" aria-labelledby="add">
        <h2 id="add">Add a site</h2>
        <AddSite {...props} />
      </section>
    </>
  )
}

interface SiteItemProps extends Pick<SitesProps, 'base' | 'origin' | 'snippets'> {
  readonly site: Site
  readonly check: BeaconCheck
}

function SiteItem({ base, site, check, origin, snippets }: SiteItemProps) {
  const { id, name, createdAt } = site
  return (
    <li class="card item">
      <div class="item-head">
        <h2>{name}</h2>
        <span class="soft small">
          Added <Time at={createdAt} precision="day" />
        </span>
      </div>
      <BeaconState site={site} check={check} origin={origin} />
      <details open={check.state === 'waiting'}>
        <summary>Snippet for the head of each page</summary>
        <Copyable id={`newest-${id}`} text={snippets.newest} />
        <details>
          <summary>Pin this version of the script</summary>
          <Copyable id={`pinned-${id}`} text={snippets.pinned} />
          <p class="soft small">
            Browsers run it only if its bytes are these. After an update of Meridian that changes
            the script, the pinned one is gone and the page is measured again once you renew the
            snippet.
          </p>
        </details>
      </details>
      <div class="actions">
        <a class="button quiet" href={`${base}/app/vitals?${new URLSearchParams({ site: name })}`}>
          Web vitals <span class="unseen">of {name}</span>
        </a>
        <details class="confirm">
          <summary aria-label={`Remove ${name}…`}>Remove…</summary>
          <form method="post" action={`${base}/app/sites/${id}/remove`}>
            <p>Beacons of this site are refused from now on, and what was measured is deleted.</p>
            <button type="submit" class="danger">
              Remove for good
            </button>
          </form>
        </details>
      </div>
    </li>
  )
}

/** Sites above the limit of a plan that was changed go on: only new ones are refused. */
function AddSite({ base, sites, plan, typed = '' }: SitesProps) {
  const { name = '', maxSites = Number.POSITIVE_INFINITY } = plan ?? {}
  if (sites.length >= maxSites) {
    return (
      <p>
        The plan {name} has {counted(maxSites, 'site', 'sites')}
        {sites.length > maxSites && `: all ${sites.length} of yours go on, without new ones`}.{' '}
        <a href={`${base}/app/billing`}>Change the plan</a> or remove a site to add another.
      </p>
    )
  }
  return (
    <form class="stack" method="post" action={`${base}/app/sites`}>
      <Field
        name="name"
        label="Origin"
        value={typed}
        maxlength={300}
        placeholder="https://shop.example"
        autocomplete="off"
        hint="Scheme and host, and the port if it is no usual one. Each subdomain is a site of its own."
        required
      />
      <button type="submit">Add site</button>
    </form>
  )
}
