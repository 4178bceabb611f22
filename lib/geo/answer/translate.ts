import type { GeolocationResult, Language } from '../../contract/geo/geolocation.ts'
import { textAt } from '../mmdb/fields.ts'
import { splitCityName } from '../place/city-name.ts'
import type { Names, PlaceNames } from '../place/names.ts'

type Location = NonNullable<GeolocationResult['location']>

/**
 * Replaces only the names, so that an answer locates the same place in all languages. `records` are the
 * names of the address in all databases. The first record with the same default name translates a name;
 * without one, the name stays.
 */
export function translate(
  location: Location,
  records: readonly PlaceNames[],
  language: Language,
): Location {
  const translated = (level: keyof PlaceNames, name: string) => {
    const names = records.map((record) => record[level])
    const known = names.find((one) => readName(level, defaultName(one)) === name)
    return (known && readName(level, textAt(known, language))) ?? name
  }
  const { continent, country, region, city } = location
  return {
    ...location,
    continent: { ...continent, name: translated('continent', continent.name) },
    ...(country && { country: { ...country, name: translated('country', country.name) } }),
    ...(region && { region: { ...region, name: translated('region', region.name) } }),
    ...(city !== undefined && { city: translated('city', city) }),
  }
}

/** The name that the decoder reads by default. */
function defaultName(names: Names): string | undefined {
  const [first] = Object.keys(names)
  return textAt(names, 'en') ?? (first === undefined ? undefined : textAt(names, first))
}

function readName(level: keyof PlaceNames, name: string | undefined): string | undefined {
  return level === 'city' ? splitCityName(name).city : name
}
