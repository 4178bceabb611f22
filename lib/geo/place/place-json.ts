import { BoundedCache } from '../../parts/bounded-cache.ts'
import { findCountry } from './countries.ts'
import type { Named, Place, PlaceJson } from './finding.ts'
import { asciiFields } from './json-text.ts'

type CountryJson = Pick<PlaceJson, 'country' | 'countryWithEmblems'>

/** By code, for the records of all files. A file that spells the name differently replaces the entry. */
const countries = new BoundedCache<
  string,
  { readonly continentName: string; readonly name: string | undefined; readonly json: CountryJson }
>(1_000)
const regions = new BoundedCache<string, { readonly name: string; readonly json: string }>(10_000)

/** Continent and country, both without and with the country's flag and unions. */
export function countryJson(continent: Named, country: Named | undefined): CountryJson {
  const code = country === undefined ? continent.code : country.code
  const name = country?.name
  const known = countries.get(code)
  if (known?.name === name && known?.continentName === continent.name) return known.json
  const json = makeCountryJson(continent, country)
  countries.set(code, { continentName: continent.name, name, json })
  return json
}

function makeCountryJson(continent: Named, country: Named | undefined): CountryJson {
  const { flag, unions = [] } = findCountry(country?.code ?? '') ?? {}
  const emblems = { flag, unions: unions.length === 0 ? undefined : unions }
  return {
    country: asciiFields({ continent, country }),
    countryWithEmblems: asciiFields({ continent, country: country && { ...country, ...emblems } }),
  }
}

export function regionJson(region: Named | undefined): string {
  if (region === undefined) return ''
  const { code, name } = region
  const known = regions.get(code)
  if (known?.name === name) return known.json
  const json = asciiFields({ region })
  regions.set(code, { name, json })
  return json
}

type CityFields = Pick<Place, 'district' | 'city' | 'postalCode' | 'coordinates'>

export function cityJson({ district, city, postalCode, coordinates }: CityFields): string {
  return asciiFields({ district, city, postalCode, coordinates })
}
