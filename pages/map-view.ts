import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'

/** A point on the Earth in degrees, and the radius in miles within which the address lies. */
export type Place = NonNullable<NonNullable<GeolocationResult['location']>['coordinates']>

export const VIEW = { width: 640, height: 400 } as const
/** Radius of the dot at the place. It hides any smaller area. */
export const POINT_RADIUS = 7

/** The outlines are too coarse for a smaller section. */
const MIN_DEGREES_HIGH = 16
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
 * `worlds`: where to draw the world map, twice if the view crosses 180°. `area`: path data of the area
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
  return { worlds, area }
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
