import { readCells } from '../overlay/cells.ts'
import type { Coordinates } from '../place/finding.ts'

/** The names of each column in a header line. */
const NAMES = {
  prefix: ['prefix'],
  country: ['country'],
  region: ['region'],
  city: ['city'],
  lat: ['lat', 'latitude'],
  lon: ['lon', 'longitude'],
  group: ['group', 'operator'],
} as const

type Name = keyof typeof NAMES

/** The index of each column; absent: the file does not have it. */
export type Columns = { readonly [name in Name]?: number }

/** RFC 8805 section 2.1.1: the postal code and columns after it do not count. */
export const GEOFEED_COLUMNS: Columns = { prefix: 0, country: 1, region: 2, city: 3 }

/**
 * Reads a header line; undefined if the line is not one, as in a geofeed. Other columns are ignored. Throws with
 * the reason if a column is missing or occurs twice.
 */
export function readColumns(line: string): Columns | undefined {
  const cells = line.toLowerCase().includes('prefix') ? readCells(line) : []
  const names = cells.map((cell) => cell.toLowerCase())
  if (!names.includes('prefix')) return undefined
  const columns: { [name in Name]?: number } = {}
  for (const [at, name] of names.entries()) {
    const column = columnOf(name)
    if (column === undefined) continue
    if (columns[column] !== undefined) throw new Error(`its header has two columns for ${column}`)
    columns[column] = at
  }
  if (columns.country === undefined) throw new Error('its header has no column country')
  if ((columns.lat === undefined) !== (columns.lon === undefined)) {
    throw new Error('its header has only one of lat and lon')
  }
  return columns
}

function columnOf(text: string): Name | undefined {
  // safe: the keys of NAMES
  return (Object.keys(NAMES) as Name[]).find((name) => NAMES[name].some((known) => known === text))
}

/** Reads decimal degrees; undefined if both cells are empty. Throws with the reason if they are not valid. */
export function readCoordinates(lat: string, lon: string): Coordinates | undefined {
  if (lat === '' && lon === '') return undefined
  if (lat === '' || lon === '') throw new Error('it has only one of lat and lon')
  return { latitude: readDegrees(lat, 90), longitude: readDegrees(lon, 180) }
}

function readDegrees(cell: string, most: 90 | 180): number {
  const degrees = Number(cell)
  if (!/^[+-]?\d+(\.\d+)?$/.test(cell) || Math.abs(degrees) > most) {
    throw new Error(`"${cell}" is not a ${most === 90 ? 'latitude' : 'longitude'} in degrees`)
  }
  return degrees
}
