import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'
import { factsOf, placeOf } from './facts.ts'
import { type Place, POINT_RADIUS, VIEW, viewAround } from './map-view.ts'
import { type Outcome, OutcomeView } from './outcome.tsx'

/** Addresses of the maps of `lib/assets`. */
export interface MapHrefs {
  readonly world: string
  /** With `{tile}` in place of a tile's name. */
  readonly tiles: string
}

interface AnswerProps {
  readonly maps: MapHrefs
  readonly outcome: Outcome
  /** Whether the visitor looked up their own address. */
  readonly isOwn: boolean
}

/** The outcome of a look-up, with the place on a map. */
export function Answer({ maps, outcome, isOwn }: AnswerProps) {
  const result = 'result' in outcome ? outcome.result : undefined
  const place = result?.location?.coordinates
  return (
    <section class={`card looked-up${place === undefined ? '' : ' mapped'}`} aria-label="Result">
      <OutcomeView outcome={outcome} isOwn={isOwn}>
        {result !== undefined && place !== undefined && (
          <PlaceMap
            maps={maps}
            place={place}
            country={result.location?.country?.code}
            label={descriptionOf(result)}
          />
        )}
        {result?.location !== undefined && place === undefined && (
          <p class="soft">This result has no coordinates, so no map is shown.</p>
        )}
      </OutcomeView>
    </section>
  )
}

function descriptionOf(result: GeolocationResult): string {
  const details = factsOf(result).filter(([name]) => name === 'Coordinates' || name === 'Accuracy')
  return ['Map of', placeOf(result), ...details.map(([, value]) => `(${value})`)].join(' ')
}

interface PlaceMapProps {
  readonly maps: MapHrefs
  readonly place: Place
  /** Code of the country to colour. */
  readonly country: string | undefined
  /** Text alternative. */
  readonly label: string
}

/** Two maps of a place: its surroundings, and its position in the world. */
function PlaceMap({ maps, place, country = '', label }: PlaceMapProps) {
  const { worlds, tiles, area } = viewAround(place)
  return (
    <figure class="place-map">
      <svg
        viewBox={`0 0 ${VIEW.width} ${VIEW.height}`}
        preserveAspectRatio="xMidYMid slice"
        role="img"
        aria-label={label}
      >
        {tiles === null
          ? worlds.map((rectangle) => (
              <image href={maps.world} preserveAspectRatio="none" {...rectangle} />
            ))
          : tiles.map(({ name, ...rectangle }) => (
              <image
                href={`${maps.tiles.replace('{tile}', name)}#${country}`}
                preserveAspectRatio="none"
                {...rectangle}
              />
            ))}
        {area !== null && <path class="area" d={area} />}
        <circle class="point" cx={VIEW.width / 2} cy={VIEW.height / 2} r={POINT_RADIUS} />
      </svg>
      <svg viewBox="-180 -90 360 180" aria-hidden="true">
        <image href={maps.world} x="-180" y="-90" width="360" height="180" />
        <circle class="point" cx={place.longitude} cy={-place.latitude} r="7" />
      </svg>
      <figcaption>
        {area !== null && <span>The address is in the marked area</span>}
        <span>Map: Natural Earth</span>
      </figcaption>
    </figure>
  )
}
