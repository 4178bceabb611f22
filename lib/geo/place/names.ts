import type { DecodedMap } from '../mmdb/decoder.ts'
import { mapAt } from '../mmdb/fields.ts'

/** A name by language, such as de → Köln. */
export type Names = DecodedMap

/** The names in one record, in all its languages. */
export interface PlaceNames {
  readonly continent: Names
  readonly country: Names
  readonly region: Names
  readonly city: Names
  readonly registeredCountry?: Names
  readonly representedCountry?: Names
}

/** The names in a map of a record that was decoded with all names. */
export function namesIn(map: DecodedMap): Names {
  return mapAt(map, 'names')
}
