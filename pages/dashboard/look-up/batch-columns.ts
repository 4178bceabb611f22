import { CSV_FIELDS } from '../../../lib/contract/geo/csv-fields.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { valueAt } from '../../../lib/contract/value-at.ts'

/** A column of a batch result. */
export interface BatchColumn {
  readonly name: string
  readonly label: string
  /** Path of the field in a result, with dots between the names. */
  readonly field: string
}

export const BATCH_COLUMNS: readonly BatchColumn[] = [
  column('country', 'Country code'),
  column('country_name', 'Country'),
  column('region', 'Region code'),
  column('region_name', 'Region'),
  column('city', 'City'),
  column('postal_code', 'Postal code'),
  column('latitude', 'Latitude'),
  column('longitude', 'Longitude'),
  column('accuracy_radius', 'Accuracy (miles)'),
  column('timezone', 'Timezone'),
  column('asn', 'ASN'),
  column('organization', 'Organization'),
]

function column(name: keyof typeof CSV_FIELDS, label: string): BatchColumn {
  return { name, label, field: CSV_FIELDS[name] }
}

/** The columns with these names; all columns if no name matches. */
export function columnsNamed(names: readonly string[]): readonly BatchColumn[] {
  const named = BATCH_COLUMNS.filter(({ name }) => names.includes(name))
  return named.length === 0 ? BATCH_COLUMNS : named
}

/** The fields to request from the API: those of all columns, the summary and the map. */
export const BATCH_FIELDS: readonly string[] = [
  'query',
  ...BATCH_COLUMNS.map(({ field }) => field),
  'meta.precision',
  'meta.degraded',
]

/** What is known about the address of a row. */
export interface RowAnswer {
  /** As the API writes it. */
  readonly ip?: string
  readonly result?: GeolocationResult
  /** Why there is no result. */
  readonly error?: string
}

/** The names of the cells that are added to a row. */
export function addedNames(columns: readonly BatchColumn[]): string[] {
  return ['ip', ...columns.map(({ name }) => name), 'degraded', 'error']
}

/** The heads of these cells on the page. */
export function addedLabels(columns: readonly BatchColumn[]): string[] {
  return ['Address', ...columns.map(({ label }) => label), 'Degraded', 'Error']
}

export type Cell = string | number | undefined

export function addedCells(columns: readonly BatchColumn[], answer: RowAnswer): Cell[] {
  const { ip, result, error } = answer
  const degraded = result?.meta?.degraded === true ? 'true' : undefined
  return [ip, ...columns.map(({ field }) => cellAt(result, field)), degraded, error]
}

/** The chosen columns of an answer in the form of the API, or its error. */
export function selectFields(columns: readonly BatchColumn[], answer: RowAnswer): object {
  const { ip, result, error } = answer
  const selected: Nested = {}
  const paths = [...columns.map(({ field }) => field), 'meta.degraded']
  for (const path of paths) setAt(selected, path.split('.'), valueAt(result, path))
  const query = ip === undefined ? {} : { query: { type: 'ip', value: ip } }
  return { ...query, ...selected, ...(error !== undefined && { error: { message: error } }) }
}

interface Nested {
  [name: string]: unknown
}

function setAt(target: Nested, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (value === undefined) return
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const inner: Nested = { ...(target[name] ?? {}) }
  setAt(inner, rest, value)
  target[name] = inner
}

/** The text or number at a path with dots; undefined if there is none. */
export function cellAt(result: unknown, path: string): Cell {
  const value = valueAt(result, path)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}
