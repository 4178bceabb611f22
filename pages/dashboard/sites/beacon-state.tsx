import type { Site } from '../../lib/contract/account-schemas.ts'
import { count, counted, hourText } from './words.ts'

/** Whether beacons of a site come in. Hours as in the API, in UTC. */
export type BeaconCheck =
  /** In the last 24 hours. */
  | { readonly state: 'receiving'; readonly accepted: number; readonly lastHour: string }
  /** Earlier ones alone. */
  | { readonly state: 'quiet'; readonly lastHour: string }
  /** `isNew`: it was added within the last 24 hours. */
  | { readonly state: 'waiting'; readonly bots: number; readonly isNew: boolean }
  | { readonly state: 'unknown'; readonly trouble: string }

interface BeaconStateProps {
  readonly site: Site
  readonly check: BeaconCheck
  /** The origin of the service. */
  readonly origin: string
}

/** A look is a request of the plan, and the smallest has ten a minute. */
const WAITING_SECONDS = 15
const UNKNOWN_SECONDS = 60

/** A part of the page that stays up to date by itself while nothing has come. */
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
  switch (check.state) {
    case 'waiting':
      return check.isNew ? WAITING_SECONDS : undefined
    case 'unknown':
      return UNKNOWN_SECONDS
    default:
      return undefined
  }
}

function State({ check, origin }: Pick<BeaconStateProps, 'check' | 'origin'>) {
  switch (check.state) {
    case 'receiving':
      return (
        <p>
          <span class="badge good">Receiving</span> {counted(check.accepted, 'beacon', 'beacons')}{' '}
          in the last 24 hours, the last one in the hour of {hourText(check.lastHour)} UTC.
        </p>
      )
    case 'quiet':
      return (
        <p>
          <span class="badge near">Quiet</span> No beacon in the last 24 hours. The last one came in
          the hour of {hourText(check.lastHour)} UTC.
        </p>
      )
    case 'unknown':
      return (
        <p>
          <span class="badge">Unknown</span> Beacons cannot be counted now: {check.trouble}.
        </p>
      )
    case 'waiting':
      return (
        <>
          <p>
            <span class="badge near">Waiting</span> No beacon yet. Put the snippet into the head of
            a page, open the page, then leave it.
          </p>
          <Hints bots={check.bots} origin={origin} />
        </>
      )
  }
}

function Hints({ bots, origin }: { readonly bots: number; readonly origin: string }) {
  return (
    <details>
      <summary>Nothing comes?</summary>
      <ul class="hints">
        <li>A page sends its beacon when it is hidden: switch to another tab, or close it.</li>
        <li>
          The address has to be the origin of this site: www. in front, http instead of https or
          another port is another site.
        </li>
        <li>
          A page with a Content Security Policy has to allow the script and its beacons:{' '}
          <code>{`script-src ${origin}; connect-src ${origin}`}</code>
        </li>
        <li>Ad blockers may keep the script or the beacon back. Try without.</li>
        <li>
          {bots === 0
            ? 'Browsers that a program drives are not measured.'
            : `${count(bots)} came from programs that say so, which are not counted.`}
        </li>
      </ul>
    </details>
  )
}
