import { csvFormatRow } from 'd3-dsv'
import { csvCell } from '../../contract/geo/csv-cell.ts'
import { LIST_INCLUDES } from '../../contract/geo/geolocation.ts'
import { valueAt } from '../../contract/value-at.ts'
import type { Json } from './select-fields.ts'
import type { Asked } from './shape.ts'

/** The columns between `ip` and `error`, each with the field of a result; named as in `CSV_HEADER`. */
const COLUMNS: Readonly<Record<string, string>> = {
  version: 'query.ipVersion',
  precision: 'meta.precision',
  continent: 'location.continent.code',
  country: 'location.country.code',
  country_name: 'location.country.name',
  region: 'location.region.code',
  region_name: 'location.region.name',
  district: 'location.district',
  city: 'location.city',
  postal_code: 'location.postalCode',
  latitude: 'location.coordinates.latitude',
  longitude: 'location.coordinates.longitude',
  accuracy_radius: 'location.coordinates.accuracyRadius',
  timezone: 'location.timezone',
  utc_offset: 'location.utcOffset',
  geo_confidence: 'location.geoConfidence',
  asn: 'network.asn',
  organization: 'network.organization',
  domain: 'network.domain',
}

/**
 * Writes results as CSV (RFC 4180): one column for each of the fields that the caller names, else all.
 * Cells of unknown values are empty.
 */
export function createResultCsv({ fields, include = [] }: Asked) {
  const columns = fields === undefined ? { ...COLUMNS, ...included(include) } : namedAs(fields)
  const paths = [...Object.values(columns), 'meta.degraded', 'error.message']
  return {
    header: toRow(['ip', ...Object.keys(columns), 'degraded', 'error']),
    row: (ip: string, result: Json) =>
      toRow([ip, ...paths.map((path) => toCell(valueAt(result, path)))]),
  }
}

/** Further columns for what is included, likewise. */
const INCLUDED: Readonly<Record<(typeof LIST_INCLUDES)[number], Readonly<Record<string, string>>>> =
  {
    network: { prefix: 'network.prefix' },
    privacy: {
      hosting: 'privacy.hosting',
      vpn: 'privacy.vpn',
      proxy: 'privacy.proxy',
      tor: 'privacy.tor',
      relay: 'privacy.relay',
      residential_proxy: 'privacy.residentialProxy',
      service: 'privacy.service',
      provider: 'privacy.provider',
    },
  }

function included(include: NonNullable<Asked['include']>): Record<string, string> {
  const columns = LIST_INCLUDES.filter((name) => include.includes(name)).map(
    (name) => INCLUDED[name],
  )
  return Object.assign({}, ...columns)
}

function namedAs(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, field]))
}

type Cell = string | number | boolean | undefined

/** Objects and lists are JSON. */
function toCell(value: unknown): Cell {
  if (typeof value === 'object') return JSON.stringify(value)
  // safe: parsed JSON has no other values
  return value as Cell
}

function toRow(cells: readonly Cell[]): string {
  return `${csvFormatRow(cells.map(csvCell))}\r\n`
}
