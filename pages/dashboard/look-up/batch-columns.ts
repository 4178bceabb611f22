import { valueAt } from '../../../lib/contract/value-at.ts'

/** A column of a batch result. The names are those of `npm run locate -- --csv`. */
export interface BatchColumn {
  readonly name: string
  readonly label: string
  /** Path of the field in a result, with dots between the names. */
  readonly field: string
}

export const BATCH_COLUMNS: readonly BatchColumn[] = [
  { name: 'country', label: 'Country code', field: 'location.country.code' },
  { name: 'country_name', label: 'Country', field: 'location.country.name' },
  { name: 'region', label: 'Region code', field: 'location.region.code' },
  { name: 'region_name', label: 'Region', field: 'location.region.name' },
  { name: 'city', label: 'City', field: 'location.city' },
  { name: 'postal_code', label: 'Postal code', field: 'location.postalCode' },
  { name: 'latitude', label: 'Latitude', field: 'location.coordinates.latitude' },
  { name: 'longitude', label: 'Longitude', field: 'location.coordinates.longitude' },
  {
    name: 'accuracy_radius',
    label: 'Accuracy (miles)',
    field: 'location.coordinates.accuracyRadius',
  },
  { name: 'timezone', label: 'Timezone', field: 'location.timezone' },
  { name: 'asn', label: 'ASN', field: 'network.asn' },
  { name: 'organization', label: 'Organization', field: 'network.organization' },
]

/** The columns with these names; all columns if no name matches. */
export function columnsNamed(names: readonly string[]): readonly BatchColumn[] {
  const named = BATCH_COLUMNS.filter(({ name }) => names.includes(name))
  return named.length === 0 ? BATCH_COLUMNS : named
}

/** The fields to request from the API: the address and the columns. */
export function fieldsOf(columns: readonly BatchColumn[]): string[] {
  return ['query', ...columns.map(({ field }) => field)]
}

/** The text or number at a path with dots; undefined if there is none. */
export function cellAt(result: unknown, path: string): string | number | undefined {
  const value = valueAt(result, path)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}
