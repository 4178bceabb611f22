/** A point on the Earth in degrees, and how far from it an address may be. */
export interface Place {
  readonly latitude: number
  readonly longitude: number
  /** Miles. */
  readonly accuracyRadius?: number | undefined
}

/** Of the picture of the world, in the units of the view. */
export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface MapView {
  /** Where the picture of the world is put: twice where both sides of 180° are seen. */
  readonly worlds: readonly Rectangle[]
  /** What lies within the accuracy radius, as the data of a path; null: no more than the point. */
  readonly area: string | null
}

export const VIEW = { width: 640, height: 400 } as const
/** How far the sign of the place reaches: what is smaller is not seen. */
export const POINT_RADIUS = 7

/** The outlines are too coarse for less. */
const MIN_DEGREES_HIGH = 16
const MAX_DEGREES_HIGH = 140
/** How much higher the view is than the area. */
const MARGIN = 1.6

const MEAN_EARTH_RADIUS_MILES = 3958.76
const QUARTER = Math.PI / 2
const STEPS = 72

/**
 * The world around a place, which stands in the middle of the view. It is the equirectangular
 * projection with the parallel of the place as its standard: around the place all directions have
 * the same scale, so that an area that is not large looks like the circle that it is.
 */
export function viewAround(place: Place): MapView {
  const reach = reachOf(place)
  const high = clamp(2 * degrees(reach) * MARGIN, MIN_DEGREES_HIGH, MAX_DEGREES_HIGH)
  const yScale = VIEW.height / high
  const standard = yScale * Math.cos(radians(place.latitude))
  // Near a pole the world would be narrower than the view.
  const xScale = Math.max(standard, VIEW.width / 360)
  const world = {
    x: VIEW.width / 2 - (place.longitude + 180) * xScale,
    y: VIEW.height / 2 - (90 - place.latitude) * yScale,
    width: 360 * xScale,
    height: 180 * yScale,
  }
  const worlds = [-1, 0, 1]
    .map((turn) => ({ ...world, x: world.x + turn * world.width }))
    .filter(({ x, width }) => x < VIEW.width && x + width > 0)
  const toView = ([east, latitude]: Offset) =>
    `${round(VIEW.width / 2 + east * xScale)} ${round(world.y + (90 - latitude) * yScale)}`
  const isSeen = degrees(reach) * yScale > POINT_RADIUS
  const area = !isSeen ? null : `M${outline(place, reach).map(toView).join('L')}z`
  return { worlds, area }
}

/** Degrees to the east of the place, and the latitude. */
type Offset = readonly [east: number, latitude: number]

/**
 * The points that are as far away as the area reaches, clockwise from the north: the direct problem
 * on a sphere. Around a pole it goes over the whole width of the map, and is closed along its edge.
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
    return points
      .toSorted(([one], [other]) => one - other)
      .concat([
        [180, -90],
        [-180, -90],
      ])
  }
  return points
}

/** Of the accuracy radius, in radians, at most a quarter of the way around the Earth. */
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
