import type { Site } from '../../../lib/contract/account/account-schemas.ts'
import { counted } from '../parts/format.ts'
import { Hour } from '../parts/time.tsx'

/** Whether a site sends beacons. Hours are in UTC, in the format of the API. */
export type BeaconCheck =
  /** Beacons arrived in the last 24 hours. */
  | {
      readonly state: 'receiving'
      readonly accepted: number
      readonly bots: number
      readonly lastHour: string
    }
  /** Beacons arrived, but none in the last 24 hours. */
  | { readonly state: 'quiet'; readonly lastHour: string }
  /** No beacon arrived in 90 days. `isNew`: the site was added within the last 24 hours. */
  | { readonly state: 'waiting'; readonly bots: number; readonly isNew: boolean }
  | { readonly state: 'unknown'; readonly reason: string }

interface BeaconStateProps {
  readonly site: Site
  readonly check: BeaconCheck
  /** The origin of the service. */
  readonly origin: string
}

/** Each refresh loads the whole page, with two API calls for each site. */
const WAITING_SECONDS = 15
const UNKNOWN_SECONDS = 60

const BADGES = {
  receiving: ['Receiving', 'good'],
  quiet: ['Quiet', 'near'],
  waiting: ['Waiting', 'near'],
  unknown: ['Unknown', ''],
} as const satisfies Record<BeaconCheck['state'], readonly [text: string, kind: string]>

/** The state of a site in a word. Screen readers announce only the text of `BeaconState`, which says the same. */
export function BeaconBadge({ site, check }: Omit<BeaconStateProps, 'origin'>) {
  const [text, kind] = BADGES[check.state]
  return (
    <span class="actions" id={`badge-${site.id}`} data-refresh={refreshSeconds(check)}>
      <span class={`badge ${kind}`}>{text}</span>
    </span>
  )
}

/** The state of a site. For a new site it refreshes until a beacon arrives. */
export function BeaconState({ site, check, origin }: BeaconStateProps) {
  return (
    <div
      class="beacon-state"
      id={`state-${site.id}`}
      aria-live="polite"
      data-refresh={refreshSeconds(check)}
    >
      <State check={check} origin={origin} />
    </div>
  )
}

function refreshSeconds(check: BeaconCheck): number | undefined {
  if (check.state === 'unknown') return UNKNOWN_SECONDS
  return check.state === 'waiting' && check.isNew ? WAITING_SECONDS : undefined
}

function State({ check, origin }: Pick<BeaconStateProps, 'check' | 'origin'>) {
  switch (check.state) {
    case 'receiving':
      return (
        <p>
          {counted(check.accepted, 'beacon', 'beacons')} in the last 24 hours. Last beacon:{' '}
          <Hour hour={check.lastHour} />.
          <Bots bots={check.bots} />
        </p>
      )
    case 'quiet':
      return (
        <p>
          No beacons in the last 24 hours. Last beacon: <Hour hour={check.lastHour} />.
        </p>
      )
    case 'unknown':
      return <p>Cannot count beacons now: {check.reason}.</p>
    case 'waiting':
      return (
        <>
          <p>
            No beacons yet. Add the snippet to the head of a page, open the page, then leave it.
            <Bots bots={check.bots} />
          </p>
          <Hints origin={origin} />
        </>
      )
  }
}

/** Beacons that did not count, so that the site's owner does not think that their own tests were lost. */
function Bots({ bots }: { readonly bots: number }) {
  if (bots === 0) return null
  return <> {counted(bots, 'beacon', 'beacons')} of bots and automated browsers did not count.</>
}

function Hints({ origin }: { readonly origin: string }) {
  return (
    <details>
      <summary>No beacons arriving?</summary>
      <ul class="hints soft small">
        <li>A page sends its beacon when you switch to another tab or close it.</li>
        <li>
          The page must have exactly this origin. An address with www., with http instead of https
          or with another port is a different site.
        </li>
        <li>
          If the page has a Content Security Policy, it must allow the script and its beacons:{' '}
          <code>{`script-src ${origin}; connect-src ${origin}`}</code>
        </li>
        <li>An ad blocker may block the script or the beacon. Try again without it.</li>
        <li>Automated browsers are not measured.</li>
      </ul>
    </details>
  )
}
