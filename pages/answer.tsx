import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'
import { factsOf, placeOf } from './facts.ts'
import { type Outcome, OutcomeView } from './outcome.tsx'
import { PlaceMap } from './place-map.tsx'

interface AnswerProps {
  /** Address of the world map image. */
  readonly world: string
  readonly outcome: Outcome
  /** Whether the visitor looked up their own address. */
  readonly isOwn: boolean
}

/** The outcome of a look-up, and the place on a map. */
export function Answer({ world, outcome, isOwn }: AnswerProps) {
  const result = 'result' in outcome ? outcome.result : undefined
  return (
    <div class="looked-up">
      <section class="card" aria-label="Result">
        <OutcomeView outcome={outcome} isOwn={isOwn} />
      </section>
      {result?.location !== undefined && <MapCard world={world} result={result} />}
    </div>
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
