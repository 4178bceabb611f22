import type { Site } from '../../../lib/contract/account/account-schemas.ts'
import type { SiteProof } from '../../../lib/contract/account/site-proof.ts'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field } from '../parts/field.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import { counted } from '../parts/format.ts'
import { Menu } from '../parts/menu.tsx'
import { type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { BeaconBadge, type BeaconCheck, BeaconState } from './beacon-state.tsx'
import { Proof, ProofBadge } from './proof.tsx'

export interface Snippets {
  /** Loads the newest script. */
  readonly newest: string
  /** Loads this version, which browsers verify by its hash. */
  readonly pinned: string
}

interface SiteWithState {
  readonly site: Site
  readonly proof: SiteProof
  readonly check: BeaconCheck
}

export interface SitesProps extends PageProps {
  /** The origin of the service. */
  readonly origin: string
  readonly sites: readonly SiteWithState[]
  readonly snippets: Snippets
  /** The current plan; null if unknown. */
  readonly plan: { readonly name: string; readonly maxSites: number } | null
  /** The origin typed into a form that was rejected, to show it again. */
  readonly typed?: string
  /** The site for which a check, just now, found no DNS record. */
  readonly missed?: string
}

const DONE: Readonly<Record<string, string>> = {
  added: 'Site added.',
  proven: 'The DNS record is there.',
  removed: 'Site removed. Its beacons no longer reach you.',
}

export function Sites(props: SitesProps) {
  const { sites, done = '', error } = props
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {sites.length === 0 ? (
        <Empty icon="globe" title="No sites yet">
          <p>
            A site is the origin of pages whose speed you want to measure, as their visitors see it.
            Add it below: you get a line of HTML for the head of each page.
          </p>
        </Empty>
      ) : (
        <ul class="items">
          {sites.map((state) => (
            <SiteItem {...props} {...state} />
          ))}
        </ul>
      )}
      <Card id="add" title="Add a site">
        <AddSite {...props} />
      </Card>
    </>
  )
}

type SiteItemProps = SiteWithState & Pick<SitesProps, 'base' | 'origin' | 'snippets' | 'missed'>

function SiteItem({ base, site, proof, check, ...rest }: SiteItemProps) {
  const { origin, snippets, missed } = rest
  const { id, name, createdAt } = site
  return (
    <li class="card item">
      <div class="item-head">
        <h2>{name}</h2>
        <Menu
          label={`Actions for ${name}`}
          items={[
            <a class="danger" href={`${base}/app/sites/${id}/remove`}>
              Remove…
            </a>,
          ]}
        />
      </div>
      <div class="actions">
        {proof.receives && <BeaconBadge site={site} check={check} />}
        <ProofBadge proof={proof} />
        <span class="soft small">
          Added <Time at={createdAt} precision="day" />
        </span>
      </div>
      {proof.receives && <BeaconState site={site} check={check} origin={origin} />}
      <Proof {...{ base, site, proof }} isMissed={missed === id} />
      <details open={proof.receives && check.state === 'waiting'}>
        <summary>Snippet for the head of each page</summary>
        <div class="block">
          <Copyable id={`newest-${id}`} text={snippets.newest} />
          <details>
            <summary>Pin this version of the script</summary>
            <Copyable id={`pinned-${id}`} text={snippets.pinned} />
            <p class="soft small">
              Browsers run the script only if it matches this version. If an update of Meridian
              changes the script, the pinned version disappears. Copy the new snippet to resume
              measuring.
            </p>
          </details>
        </div>
      </details>
      <div class="actions">
        <a class="button quiet" href={`${base}/app/vitals?${new URLSearchParams({ site: name })}`}>
          Web vitals <span class="unseen">of {name}</span>
        </a>
      </div>
    </li>
  )
}

/** Asks before a site is removed. */
export function RemoveSite({ base, site }: Pick<SitesProps, 'base'> & Pick<SiteWithState, 'site'>) {
  return (
    <Card id="question" title={site.name}>
      <p>This deletes all measurements of this site. New beacons will not reach you.</p>
      <PostButton
        action={`${base}/app/sites/${site.id}/remove`}
        text="Remove permanently"
        kind="danger"
        instead={{ href: `${base}/app/sites`, text: 'Back to the sites' }}
      />
    </Card>
  )
}

/** After a downgrade, sites over the new limit keep working; only new ones are refused. */
function AddSite({ base, sites, plan, typed = '', problem }: SitesProps) {
  const { name = '', maxSites = Number.POSITIVE_INFINITY } = plan ?? {}
  if (sites.length >= maxSites) {
    return (
      <p>
        The {name} plan allows {counted(maxSites, 'site', 'sites')}.
        {sites.length > maxSites && ` All ${sites.length} of your sites keep working.`} To add
        another, <a href={`${base}/app/billing`}>change your plan</a> or remove a site.
      </p>
    )
  }
  return (
    <Form action={`${base}/app/sites`} text="Add site">
      <Field
        name="name"
        label="Address"
        value={typed}
        maxlength={300}
        placeholder="https://shop.example"
        autocomplete="off"
        hint="The host of your pages; https:// is added if it is missing. Each subdomain is a separate site."
        problem={problem}
        required
      />
    </Form>
  )
}
