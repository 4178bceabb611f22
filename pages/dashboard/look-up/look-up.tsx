import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { factsOf, placeOf } from '../../facts.ts'
import { LookUpForm } from '../../look-up-form.tsx'
import { type Outcome, OutcomeView } from '../../outcome.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { PlaceMap } from './place-map.tsx'

interface LookUpProps extends PageProps {
  /** Address of the world map image. */
  readonly world: string
  /** The typed address; empty if none. */
  readonly typed: string
  /** null if nothing was looked up, or the API answered with an error. */
  readonly outcome: Outcome | null
}

export function LookUp({ base, world, typed, outcome, error }: LookUpProps) {
  return (
    <>
      <Result error={error} />
      <div>
        <LookUpForm
          base={base}
          action={`${base}/app/look-up`}
          typed={typed}
          isInvalid={outcome?.kind === 'invalid'}
          demoKey={null}
        />
        <p class="hint">
          Each look-up counts as one request of your plan.{' '}
          <a href={`${base}/app/batch`}>Look up many addresses at once</a>
        </p>
      </div>
      {outcome !== null && <Answer base={base} world={world} outcome={outcome} />}
    </>
  )
}

function Answer({ base, world, outcome }: { base: string; world: string; outcome: Outcome }) {
  const result = outcome.kind === 'located' ? outcome.result : {}
  return (
    <>
      {result.meta?.degraded === true && (
        <Notice kind="hint">
          You have used all requests of this period, so this result contains only the country.{' '}
          <a href={`${base}/app/billing`}>See plans and billing</a>.
        </Notice>
      )}
      <div class="looked-up">
        <section class="card" aria-label="Result">
          <OutcomeView outcome={outcome} isOwn={false} />
        </section>
        {result.location !== undefined && <MapCard world={world} result={result} />}
      </div>
    </>
  )
}

function MapCard({ world, result }: { world: string; result: GeolocationResult }) {
  const place = result.location?.coordinates
  if (place === undefined) {
    return <p class="soft">This result has no coordinates, so no map is shown.</p>
  }
  return (
    <section class="card" aria-label="Map">
      <PlaceMap world={world} place={place} label={labelOf(result)} />
    </section>
  )
}

function labelOf(result: GeolocationResult): string {
  const details = factsOf(result).filter(([name]) => name === 'Coordinates' || name === 'Accuracy')
  return ['Map of', placeOf(result), ...details.map(([, value]) => `(${value})`)].join(' ')
}
