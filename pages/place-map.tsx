import { type Place, POINT_RADIUS, VIEW, viewAround } from './map-view.ts'

interface PlaceMapProps {
  /** Address of the world map of lib/assets/world-map.ts, which is equirectangular. */
  readonly world: string
  readonly place: Place
  /** Text alternative. */
  readonly label: string
}

/** Two maps of a place: its surroundings, and its position in the world. */
export function PlaceMap({ world, place, label }: PlaceMapProps) {
  const { worlds, area } = viewAround(place)
  return (
    <figure class="place-map">
      <svg viewBox={`0 0 ${VIEW.width} ${VIEW.height}`} role="img" aria-label={label}>
        {worlds.map((rectangle) => (
          <image href={world} preserveAspectRatio="none" {...rectangle} />
        ))}
        {area !== null && <path class="area" d={area} />}
        <circle class="point" cx={VIEW.width / 2} cy={VIEW.height / 2} r={POINT_RADIUS} />
      </svg>
      <svg viewBox="-180 -90 360 180" aria-hidden="true">
        <image href={world} x="-180" y="-90" width="360" height="180" />
        <circle class="point" cx={place.longitude} cy={-place.latitude} r="5" />
      </svg>
      <figcaption>
        {area !== null && <span>The address is in the marked area</span>}
        <span>Map: Natural Earth</span>
      </figcaption>
    </figure>
  )
}
