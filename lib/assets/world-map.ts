import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { merge, mesh } from 'topojson-client'

const { resolve } = createRequire(import.meta.url)

type Topology = Parameters<typeof mesh>[0]
type Countries = NonNullable<Parameters<typeof mesh>[1]> & {
  readonly geometries: Parameters<typeof merge>[1]
}
type Atlas = Topology & { readonly objects: { readonly countries: Countries } }
type Point = readonly number[]

/** The outlines are coarser than a tenth of a degree. */
const UNITS_PER_DEGREE = 10

/**
 * Draws land and borders of the world as an SVG image, from Natural Earth's 1:110,000,000 outlines.
 * The projection is equirectangular: x is the longitude and y the negative latitude, in tenths of a
 * degree. A second image beside the first therefore continues beyond 180°. Lines keep their width at
 * any size.
 */
export async function drawWorldMap(): Promise<Uint8Array> {
  const text = await readFile(resolve('world-atlas/countries-110m.json'), 'utf8')
  const atlas: Atlas = JSON.parse(text)
  const { countries } = atlas.objects
  const land = merge(atlas, countries.geometries).coordinates.flat()
  const borders = mesh(atlas, countries, (one, other) => one !== other).coordinates
  return Buffer.from(toSvg(toPath(land, 'z'), toPath(borders, '')))
}

/**
 * Sets its own colours for light and dark pages, because the style sheet of the page does not apply
 * inside an image.
 */
function toSvg(land: string, borders: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1800 -900 3600 1800" preserveAspectRatio="none">
<style>
path { stroke-linejoin: round; vector-effect: non-scaling-stroke }
.land { fill: #d9dbe1; stroke: #9297a1; stroke-width: 0.75 }
.borders { fill: none; stroke: #fff; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  .land { fill: #3b3f48; stroke: #747a86 }
  .borders { stroke: #1a1c21 }
}
</style>
<path class="land" d="${land}"/>
<path class="borders" d="${borders}"/>
</svg>
`
}

/**
 * Outlines that cross 180° are drawn at both edges of the map. The parts beyond the edges are cut
 * off.
 */
function toPath(lines: readonly (readonly Point[])[], end: '' | 'z'): string {
  return lines
    .flatMap((line) => atEdges(unrolled(line)))
    .map((line) => `${toMoves(line.map(toUnits))}${end}`)
    .join('')
}

/**
 * Removes jumps at 180° by allowing larger longitudes. A line around the South Pole is extended to the
 * lower edge of the map.
 */
function unrolled(line: readonly Point[]): Point[] {
  let laps = 0
  const points = line.map(([longitude = 0, latitude = 0], at): Point => {
    const jump = at === 0 ? 0 : longitude - (line[at - 1]?.[0] ?? 0)
    if (Math.abs(jump) > 180) laps -= Math.sign(jump)
    return [longitude + 360 * laps, latitude]
  })
  if (laps === 0) return points
  const [from, to] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0]
  return [...points, [to, -90], [from, -90]]
}

function atEdges(line: readonly Point[]): Point[][] {
  const longitudes = line.map(([longitude = 0]) => longitude)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  return [-360, 0, 360]
    .filter((shift) => west + shift < 180 && east + shift > -180)
    .map((shift) => line.map(([longitude = 0, latitude = 0]) => [longitude + shift, latitude]))
}

function toUnits([longitude = 0, latitude = 0]: Point): Point {
  return [Math.round(longitude * UNITS_PER_DEGREE), Math.round(-latitude * UNITS_PER_DEGREE)]
}

/** Uses relative coordinates after the first point, which need the fewest digits. */
function toMoves([first = [], ...rest]: readonly Point[]): string {
  let [x = 0, y = 0] = first
  const moves = rest.flatMap(([toX = 0, toY = 0]) => {
    const [dx, dy] = [toX - x, toY - y]
    if (dx === 0 && dy === 0) return []
    x = toX
    y = toY
    return [`${dx}${dy < 0 ? '' : ' '}${dy}`]
  })
  const start = `M${first.join(' ')}`
  return moves.length === 0 ? start : `${start}l${moves.join(' ').replaceAll(' -', '-')}`
}
