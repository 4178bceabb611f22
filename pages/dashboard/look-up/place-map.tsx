import { type Place, POINT_RADIUS, VIEW, viewAround } from './map-view.ts'

interface PlaceMapProps {
  /** Address of the picture of the world: equirectangular, as lib/world-map.ts draws it. */
  readonly world: string
  readonly place: Place
  /** What can be seen, in words. */
  readonly label: string
}

/** A place on the map: what lies around it, and where in the world that is. */
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
        {area !== null && <span>The address is within the marked area</span>}
        <span>Map: Natural Earth</span>
      </figcaption>
    </figure>
  )
}
