import {
  TILE_COLUMNS,
  TILE_DEGREES,
  TILE_OVERLAP,
  TILE_ROWS,
  tileName,
} from '../lib/assets/map-tile.ts'
import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'

/** A point on the Earth in degrees, and the radius in miles within which the address lies. */
export type Place = NonNullable<NonNullable<GeolocationResult['location']>['coordinates']>

export const VIEW = { width: 640, height: 400 } as const
/** Radius of the dot at the place. It hides any smaller area. */
export const POINT_RADIUS = 7

/** The outlines are too coarse for a smaller section. */
const MIN_DEGREES_HIGH = 10
/** A higher view shows the world map: its outlines are fine enough there, and a few tiles are not. */
const MAX_TILED_DEGREES_HIGH = 32
const MAX_DEGREES_HIGH = 140
/** Height of the view relative to the area. */
const MARGIN = 1.6

const MEAN_EARTH_RADIUS_MILES = 3958.76
const QUARTER = Math.PI / 2
const STEPS = 72

/**
 * Centres the view on the place. Uses the equirectangular projection with the place's latitude as its
 * standard parallel: near the place all directions have the same scale, so a small area looks circular.
 *
 * `worlds`: where to draw the world map, twice if the view crosses 180°. `tiles`: where to draw which
 * tiles of the near map instead; null if the view is too wide for them. `area`: path data of the area
 * within the accuracy radius; null if the point covers it.
 */
export function viewAround(place: Place) {
  const reach = reachOf(place)
  const high = clamp(2 * degrees(reach) * MARGIN, MIN_DEGREES_HIGH, MAX_DEGREES_HIGH)
  const yScale = VIEW.height / high
  const standard = yScale * Math.cos(radians(place.latitude))
  // Near a pole the world map would be narrower than the view.
  const xScale = Math.max(standard, VIEW.width / 360)
  const world = {
    x: VIEW.width / 2 - (place.longitude + 180) * xScale,
    y: VIEW.height / 2 - (90 - place.latitude) * yScale,
    width: 360 * xScale,
    height: 180 * yScale,
  }
  const worlds = [-1, 0, 1]
    .map((lap) => ({ ...world, x: world.x + lap * world.width }))
    .filter(({ x, width }) => x < VIEW.width && x + width > 0)
  const toView = ([east, latitude]: Offset) =>
    `${round(VIEW.width / 2 + east * xScale)} ${round(world.y + (90 - latitude) * yScale)}`
  const isSeen = degrees(reach) * yScale > POINT_RADIUS
  const area = !isSeen ? null : `M${outline(place, reach).map(toView).join('L')}z`
  const tiles = high > MAX_TILED_DEGREES_HIGH ? null : worlds.flatMap(tilesOf)
  return { worlds, tiles, area }
}

interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The tiles of a world map that the view shows, and where to draw them. */
function tilesOf(world: Rectangle): (Rectangle & { readonly name: string })[] {
  const size = { width: world.width / TILE_COLUMNS, height: world.height / TILE_ROWS }
  const columns = crossed({ from: world.x, step: size.width, count: TILE_COLUMNS, end: VIEW.width })
  const rows = crossed({ from: world.y, step: size.height, count: TILE_ROWS, end: VIEW.height })
  const overlap = TILE_OVERLAP / TILE_DEGREES
  return columns.flatMap((column) =>
    rows.map((row) => ({
      name: tileName(column, row),
      x: world.x + (column - overlap) * size.width,
      y: world.y + (row - overlap) * size.height,
      width: (1 + 2 * overlap) * size.width,
      height: (1 + 2 * overlap) * size.height,
    })),
  )
}

interface Strips {
  readonly from: number
  readonly step: number
  readonly count: number
  /** The view reaches from 0 to this. */
  readonly end: number
}

/** Which of `count` strips of width `step` cross the view. */
function crossed({ from, step, count, end }: Strips): number[] {
  return Array.from({ length: count }, (_, at) => at).filter(
    (at) => from + at * step < end && from + (at + 1) * step > 0,
  )
}

/** Degrees east of the place, and the latitude. */
type Offset = readonly [east: number, latitude: number]

/**
 * The points at distance `reach` from the place, clockwise from the north (the direct geodesic problem
 * on a sphere). Around a pole they span the whole width of the map, and its edge closes the area.
 */
function outline({ latitude }: Place, reach: number): Offset[] {
  const from = radians(latitude)
  const points = Array.from({ length: STEPS + 1 }, (_, step): Offset => {
    const bearing = ((step + 0.5) / (STEPS + 1)) * 2 * Math.PI
    const to = Math.asin(
      clamp(
        Math.sin(from) * Math.cos(reach) + Math.cos(from) * Math.sin(reach) * Math.cos(bearing),
        -1,
        1,
      ),
    )
    const east = Math.atan2(
      Math.sin(bearing) * Math.sin(reach) * Math.cos(from),
      Math.cos(reach) - Math.sin(from) * Math.sin(to),
    )
    return [degrees(east), degrees(to)]
  })
  if (from + reach > QUARTER) return [[180, 90], ...points, [-180, 90]]
  if (from - reach < -QUARTER) {
    return [...points.sort(([one], [other]) => one - other), [180, -90], [-180, -90]]
  }
  return points
}

/** The accuracy radius in radians, at most a quarter of the way around the Earth. */
function reachOf({ accuracyRadius = 0 }: Place): number {
  return Math.min(accuracyRadius / MEAN_EARTH_RADIUS_MILES, QUARTER)
}

function radians(angle: number): number {
  return (angle * Math.PI) / 180
}

function degrees(angle: number): number {
  return (angle * 180) / Math.PI
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
