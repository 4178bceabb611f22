import { BoundedCache } from '../bounded-cache.ts'
import { findCountry } from './countries.ts'
import type { Named, Place, PlaceJson } from './finding.ts'
import { field, joined, objectOf, quoted } from './json-text.ts'

type CountryJson = Pick<PlaceJson, 'country' | 'countryWithEmblems'>

/** By code, for all records alike; a file that spells the name another way takes the place. */
const countries = new BoundedCache<
  string,
  { readonly continentName: string; readonly name: string | undefined; readonly json: CountryJson }
>(1_000)
const regions = new BoundedCache<string, { readonly name: string; readonly json: string }>(10_000)

/** Continent and country, without and with flag and unions. */
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
  const start = `"continent":${namedJson(continent)}`
  if (country === undefined) return { country: start, countryWithEmblems: start }
  const { flag, unions = [] } = findCountry(country.code) ?? {}
  const codeAndName = [field('code', country.code), field('name', country.name)]
  const list = unions.length === 0 ? '' : `"unions":[${unions.map(quoted).join(',')}]`
  return {
    country: `${start},"country":${objectOf(codeAndName)}`,
    countryWithEmblems: `${start},"country":${objectOf([...codeAndName, field('flag', flag), list])}`,
  }
}

export function regionJson(region: Named | undefined): string {
  if (region === undefined) return ''
  const { code, name } = region
  const known = regions.get(code)
  if (known?.name === name) return known.json
  const json = `"region":${namedJson(region)}`
  regions.set(code, { name, json })
  return json
}

function namedJson({ code, name }: Named): string {
  return `{"code":${quoted(code)},"name":${quoted(name)}}`
}

type CityFields = Pick<Place, 'district' | 'city' | 'postalCode' | 'coordinates'>

export function cityJson({ district, city, postalCode, coordinates }: CityFields): string {
  const names = [field('district', district), field('city', city), field('postalCode', postalCode)]
  if (coordinates === undefined) return joined(names)
  const { latitude, longitude, accuracyRadius } = coordinates
  const radius = accuracyRadius === undefined ? '' : `,"accuracyRadius":${accuracyRadius}`
  names.push(`"coordinates":{"latitude":${latitude},"longitude":${longitude}${radius}}`)
  return joined(names)
}
