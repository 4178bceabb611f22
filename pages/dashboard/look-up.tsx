import type { GeolocationResult } from '../../lib/contract/geolocation.ts'
import { factsOf, placeOf } from '../facts.ts'
import { LookUpForm } from '../look-up-form.tsx'
import { type Outcome, OutcomeView } from '../outcome.tsx'
import { Notice } from './notice.tsx'
import { PlaceMap } from './place-map.tsx'

interface LookUpProps {
  readonly base: string
  /** Address of the picture of the world. */
  readonly world: string
  /** Empty: nothing. */
  readonly typed: string
  /** null: nothing was asked for, or it cannot be answered now. */
  readonly outcome: Outcome | null
  readonly trouble?: string
}

export function LookUp({ base, world, typed, outcome, trouble }: LookUpProps) {
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}.</Notice>}
      <div>
        <LookUpForm
          base={base}
          action={`${base}/app/look-up`}
          typed={typed}
          isInvalid={outcome?.kind === 'invalid'}
          demoKey={null}
        />
        <p class="hint">
          Counts as one request of your plan, as a look-up by any program.{' '}
          <a href={`${base}/app/batch`}>Look up many at once</a>
        </p>
      </div>
      {outcome !== null && <Answer base={base} world={world} outcome={outcome} />}
    </>
  )
}

interface AnswerProps extends Pick<LookUpProps, 'base' | 'world'> {
  readonly outcome: Outcome
}

function Answer({ base, world, outcome }: AnswerProps) {
  const result = outcome.kind === 'located' ? outcome.result : {}
  return (
    <>
      {result.meta?.degraded === true && (
        <Notice kind="hint">
          All requests of this period are used, so this answer is reduced to the country.{' '}
          <a href={`${base}/app/billing`}>Change the plan or allow overages</a>.
        </Notice>
      )}
      <div class="looked-up">
        <section class="card" aria-label="Answer">
          <OutcomeView outcome={outcome} isOwn={false} />
        </section>
        {result.location !== undefined && <OnMap world={world} result={result} />}
      </div>
    </>
  )
}

interface OnMapProps extends Pick<LookUpProps, 'world'> {
  readonly result: GeolocationResult
}

function OnMap({ world, result }: OnMapProps) {
  const place = result.location?.coordinates
  if (place === undefined) {
    return <p class="soft">The answer has no coordinates, so there is no map.</p>
  }
  return (
    <section class="card" aria-label="Map">
      <PlaceMap world={world} place={place} label={labelOf(result)} />
    </section>
  )
}

function labelOf(result: GeolocationResult): string {
  const told = factsOf(result).filter(({ name }) => name === 'Coordinates' || name === 'Accuracy')
  return ['Map of', placeOf(result), ...told.map(({ value }) => `(${value})`)].join(' ')
}
