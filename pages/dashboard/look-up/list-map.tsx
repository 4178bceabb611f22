import type { Spot } from '../../../lib/address-lists/map-spots.ts'
import { count, counted } from '../parts/format.ts'

interface ListMapProps {
  /** Address of the world map image. */
  readonly world: string
  /** Those with the most addresses first. */
  readonly spots: readonly Spot[]
  /** The number of addresses without coordinates. */
  readonly elsewhere: number
}

/** In degrees of the map. */
const RADIUS = { least: 0.8, most: 9 } as const
const DESCRIBED = 5

/** Where the addresses of a list are. The area of a circle grows with the number of addresses. */
export function ListMap({ world, spots, elsewhere }: ListMapProps) {
  const most = spots[0]?.count ?? 1
  return (
    <figure class="place-map list-map">
      <svg viewBox="-180 -90 360 180" role="img" aria-label={descriptionOf(spots)}>
        <image href={world} x="-180" y="-90" width="360" height="180" preserveAspectRatio="none" />
        {spots.map((spot) => (
          <circle
            class="spot"
            cx={rounded(spot.longitude)}
            cy={rounded(-spot.latitude)}
            r={rounded(Math.max(RADIUS.least, RADIUS.most * Math.sqrt(spot.count / most)))}
          >
            <title>{textOf(spot)}</title>
          </circle>
        ))}
      </svg>
      <figcaption>
        <span>{captionOf(spots, elsewhere)}</span>
        <span>Map: Natural Earth</span>
      </figcaption>
    </figure>
  )
}

function captionOf(spots: readonly Spot[], elsewhere: number): string {
  const shown = spots.reduce((sum, spot) => sum + spot.count, 0)
  const rows = `${counted(shown, 'row', 'rows')} in ${counted(spots.length, 'area', 'areas')}`
  return elsewhere === 0 ? rows : `${rows}; ${count(elsewhere)} without coordinates are not shown`
}

function descriptionOf(spots: readonly Spot[]): string {
  if (spots.length === 0) return 'Map of the world without addresses'
  const largest = spots.slice(0, DESCRIBED).map(textOf).join('; ')
  return `Map of the world, most addresses: ${largest}`
}

function textOf({ place, count: rows }: Spot): string {
  return `around ${place === '' ? 'an unnamed place' : place}: ${counted(rows, 'row', 'rows')}`
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
