import { csvFormatRow } from 'd3-dsv'
import { parseAddress } from '../address.ts'
import type { GeolocationResult } from '../contract/geolocation.ts'
import { type BulkOptions, NOT_AN_ADDRESS, shownText } from './bulk.ts'
import { describe } from './describe.ts'

type Cell = string | number | undefined
type Cells = Readonly<Partial<Record<Column, Cell>>>
type Column = (typeof COLUMNS)[number]

const COLUMNS = [
  'ip',
  'version',
  'precision',
  'continent',
  'country',
  'country_name',
  'region',
  'region_name',
  'district',
  'city',
  'postal_code',
  'latitude',
  'longitude',
  'accuracy_radius',
  'timezone',
  'utc_offset',
  'geo_confidence',
  'asn',
  'organization',
  'domain',
  'error',
] as const

/** The names of the columns of `toCsvLine`. */
export const CSV_HEADER = `${csvFormatRow(COLUMNS)}\n`

/** The line as a row of CSV (RFC 4180): what is not known is an empty cell. */
export function toCsvLine(line: string, locate: BulkOptions['locate'], now: number): string {
  const text = line.trim()
  const address = parseAddress(text)
  if (address === null) return toRow({ ip: shownText(text), error: NOT_AN_ADDRESS })
  const { json, precision } = describe(address, locate(address), { now, degraded: false })
  const result: GeolocationResult = JSON.parse(`{${json}}`)
  return toRow({
    ip: address.text,
    version: address.version,
    precision,
    ...locationCells(result.location),
    ...result.network,
  })
}

function locationCells(location: GeolocationResult['location']): Cells {
  if (location === undefined) return {}
  const { continent, country, region, coordinates } = location
  return {
    continent: continent.code,
    country: country?.code,
    country_name: country?.name,
    region: region?.code,
    region_name: region?.name,
    district: location.district,
    city: location.city,
    postal_code: location.postalCode,
    latitude: coordinates?.latitude,
    longitude: coordinates?.longitude,
    accuracy_radius: coordinates?.accuracyRadius,
    timezone: location.timezone,
    utc_offset: location.utcOffset,
    geo_confidence: location.geoConfidence,
  }
}

function toRow(cells: Cells): string {
  return `${csvFormatRow(COLUMNS.map((column) => String(cells[column] ?? '')))}\n`
}
