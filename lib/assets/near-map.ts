import { mapInSlices } from '../parts/time-slices.ts'
import { TILE_COLUMNS, TILE_DEGREES, TILE_OVERLAP, TILE_ROWS, tileName } from './map-tile.ts'
import { type Line, landOf, type Point, readAtlas, toPath } from './outlines.ts'

/** A unit is less than a pixel of the nearest view, which shows 40 to a degree. */
const UNITS_PER_DEGREE = 50
/** In degrees. Shapes are cut off this far outside of a tile's image, so that no cut shows. */
const MARGIN = 0.5

interface Box {
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

interface Shape {
  /** ISO 3166-1 alpha-2. */
  readonly code: string | undefined
  readonly line: Line
  readonly box: Box
}

/**
 * Draws the countries of the world as SVG images of `TILE_DEGREES` squared, from Natural Earth's
 * 1:50,000,000 outlines: JSON, an image for each name. The projection is that of the world map. A
 * fragment with a country's code, such as `#GB`, colours this country.
 */
export async function drawTiles(): Promise<Uint8Array> {
  const shapes = await readShapes()
  const places = Array.from({ length: TILE_COLUMNS * TILE_ROWS }, (_, at): [number, number] => [
    Math.floor(at / TILE_ROWS),
    at % TILE_ROWS,
  ])
  const tiles = await mapInSlices(places, ([column, row]) => {
    return [tileName(column, row), drawTile(shapes, boxOf(column, row))] as const
  })
  return Buffer.from(JSON.stringify(Object.fromEntries(tiles)))
}

async function readShapes(): Promise<Shape[]> {
  const atlas = await readAtlas('50m')
  const shapes = await mapInSlices(atlas.objects.countries.geometries, (country) => {
    const code = codeOf(country.id)
    return landOf(atlas, [country]).map((line) => {
      const box = around(line)
      return { code: partAt(box) ?? code, line, box }
    })
  })
  return shapes.flat()
}

type Part = readonly [code: string, west: number, east: number, south: number, north: number]

/** Land with a code of its own that the atlas draws as part of another country, or without a code. */
const PARTS: readonly Part[] = [
  ['GF', -55, -51, 2, 6],
  ['GP', -62, -61.1, 15.8, 16.6],
  ['MQ', -61.3, -60.7, 14.3, 15],
  ['RE', 55, 56, -21.5, -20.8],
  ['YT', 44.9, 45.4, -13.1, -12.5],
  ['BQ', -68.5, -68.1, 12, 12.4],
  ['BQ', -63.4, -62.9, 17.4, 17.7],
  ['SJ', 10, 34, 74, 81],
  ['SJ', -10, -7, 70, 72],
  ['TK', -173, -171, -10, -8],
  ['CX', 105, 106, -11, -10],
  ['CC', 96, 97, -13, -11],
  ['XK', 19.9, 21.9, 41.8, 43.4],
]

/** The part in which an outline lies as a whole. */
function partAt(box: Box): string | undefined {
  const part = PARTS.find(
    ([, west, east, south, north]) =>
      west < box.west && box.east < east && south < box.south && box.north < north,
  )
  return part?.[0]
}

/**
 * Turns a numeric code of ISO 3166-1 into the one of two letters: CLDR lists it as an alias
 * (https://unicode.org/reports/tr35/#Canonical_Unicode_Locale_Identifiers).
 */
function codeOf(numeric: string | undefined): string | undefined {
  return numeric === undefined ? undefined : new Intl.Locale(`und-${numeric}`).region
}

function around(line: Line): Box {
  const longitudes = line.map(([longitude = 0]) => longitude)
  const latitudes = line.map(([, latitude = 0]) => latitude)
  return {
    west: Math.min(...longitudes),
    east: Math.max(...longitudes),
    south: Math.min(...latitudes),
    north: Math.max(...latitudes),
  }
}

/** What the image of a tile shows. */
function boxOf(column: number, row: number): Box {
  const [west, north] = [column * TILE_DEGREES - 180, 90 - row * TILE_DEGREES]
  return grown(
    { west, east: west + TILE_DEGREES, south: north - TILE_DEGREES, north },
    TILE_OVERLAP,
  )
}

function grown({ west, east, south, north }: Box, by: number): Box {
  return { west: west - by, east: east + by, south: south - by, north: north + by }
}

function drawTile(shapes: readonly Shape[], box: Box): string {
  const cut = grown(box, MARGIN)
  const near = shapes.filter(({ box }) => isCrossing(box, cut))
  const codes = [...new Set(near.map(({ code }) => code))]
  const paths = codes.map((code) => {
    const lines = near.filter((shape) => shape.code === code).map((shape) => clip(shape, cut))
    const data = toPath(lines, { unitsPerDegree: UNITS_PER_DEGREE, end: 'z' })
    return `<path${code === undefined ? '' : ` id="${code}"`} d="${data}"/>`
  })
  return toSvg(box, paths.join('\n'))
}

function isCrossing(one: Box, other: Box): boolean {
  return (
    one.west < other.east &&
    one.east > other.west &&
    one.south < other.north &&
    one.north > other.south
  )
}

/** Cuts a closed line at each side of the box in turn (Sutherland and Hodgman, 1974). */
function clip({ line, box }: Shape, { west, east, south, north }: Box): Line {
  const depths = [
    box.west < west && (([x = 0]: Point) => x - west),
    box.east > east && (([x = 0]: Point) => east - x),
    box.south < south && (([, y = 0]: Point) => y - south),
    box.north > north && (([, y = 0]: Point) => north - y),
  ]
  return depths.filter((depth) => depth !== false).reduce(cutAt, line)
}

/** Keeps the part of a closed line whose depth is positive. */
function cutAt(line: Line, depthOf: (point: Point) => number): Line {
  return line.flatMap((point, at) => {
    const before = line.at(at - 1) ?? point
    const [from, to] = [depthOf(before), depthOf(point)]
    const kept = to < 0 ? [] : [point]
    return from < 0 === to < 0 ? kept : [between(before, point, from / (from - to)), ...kept]
  })
}

function between([x = 0, y = 0]: Point, [toX = 0, toY = 0]: Point, share: number): Point {
  return [x + (toX - x) * share, y + (toY - y) * share]
}

/** Sets its own colours, as the world map does. */
function toSvg({ west, east, south, north }: Box, paths: string): string {
  const view = [west, -north, east - west, north - south]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${view.map((n) => n * UNITS_PER_DEGREE).join(' ')}" preserveAspectRatio="none">
<style>
path { fill: #d9dbe1; stroke: #a2a7b1; stroke-width: 0.75; stroke-linejoin: round; vector-effect: non-scaling-stroke }
path:target { fill: #bed0e4 }
@media (prefers-color-scheme: dark) {
  path { fill: #3b3f48; stroke: #686e79 }
  path:target { fill: #46566a }
}
</style>
${paths}
</svg>
`
}
