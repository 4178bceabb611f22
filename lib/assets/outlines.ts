import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { merge, mesh } from 'topojson-client'

const { resolve } = createRequire(import.meta.url)

type Topology = Parameters<typeof mesh>[0]
type Country = Extract<Parameters<typeof merge>[1], readonly unknown[]>[number] & {
  /** ISO 3166-1 numeric, in three digits. */
  readonly id?: string
}
type Countries = NonNullable<Parameters<typeof mesh>[1]> & { readonly geometries: Country[] }
type Atlas = Topology & { readonly objects: { readonly countries: Countries } }

/** Longitude and latitude in degrees. */
export type Point = readonly number[]
export type Line = readonly Point[]

/** Natural Earth's countries, at 1:110,000,000 or 1:50,000,000. */
export async function readAtlas(scale: '110m' | '50m'): Promise<Atlas> {
  return JSON.parse(await readFile(resolve(`world-atlas/countries-${scale}.json`), 'utf8'))
}

/** The outlines of the land of these countries, without the borders between them. */
export function landOf(atlas: Atlas, countries = atlas.objects.countries.geometries): Line[] {
  return merge(atlas, countries).coordinates.flat().flatMap(atEdges)
}

export function bordersOf(atlas: Atlas): Line[] {
  const { countries } = atlas.objects
  return mesh(atlas, countries, (one, other) => one !== other).coordinates.flatMap(atEdges)
}

/** Repeats a line that crosses 180° at the other edge of the map. */
function atEdges(jumping: Line): Line[] {
  const line = unrolled(jumping)
  const longitudes = line.map(([longitude = 0]) => longitude)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  return [-360, 0, 360]
    .filter((shift) => west + shift < 180 && east + shift > -180)
    .map((shift) => line.map(([longitude = 0, latitude = 0]) => [longitude + shift, latitude]))
}

/**
 * Removes jumps at 180° by allowing larger longitudes. A line around the South Pole is extended to the
 * lower edge of the map.
 */
function unrolled(line: Line): Line {
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

interface PathOptions {
  readonly unitsPerDegree: number
  /** `z` closes the lines. */
  readonly end: '' | 'z'
}

/** Path data of the lines: x is the longitude and y the negative latitude, in whole units. */
export function toPath(lines: readonly Line[], { unitsPerDegree, end }: PathOptions): string {
  const toUnits = ([longitude = 0, latitude = 0]: Point): Point => [
    Math.round(longitude * unitsPerDegree),
    Math.round(-latitude * unitsPerDegree),
  ]
  return lines.map((line) => `${toMoves(line.map(toUnits))}${end}`).join('')
}

/** Uses relative coordinates after the first point, which need the fewest digits. */
function toMoves([first = [], ...rest]: Line): string {
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
