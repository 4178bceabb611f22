import { BoundedCache } from '../bounded-cache.ts'
import { findCountry } from './countries.ts'
import type { Named, Place, PlaceJson } from './finding.ts'
import { field, joined, objectOf, quoted } from './json-text.ts'

type CountryJson = Pick<PlaceJson, 'country' | 'countryWithEmblems'>

const REMEMBERED_COUNTRIES = 1_000
const countries = new BoundedCache<string, CountryJson>(REMEMBERED_COUNTRIES)

/** Continent and country, without and with flag and unions. */
export function countryJson(continent: Named, country: Named | undefined): CountryJson {
  const key = `${continent.code}|${continent.name}|${country?.code}|${country?.name}`
  const known = countries.get(key)
  if (known !== undefined) return known
  const made = makeCountryJson(continent, country)
  countries.set(key, made)
  return made
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
  return region === undefined ? '' : `"region":${namedJson(region)}`
}

function namedJson({ code, name }: Named): string {
  return `{"code":${quoted(code)},"name":${quoted(name)}}`
}

type CityFields = Pick<Place, 'district' | 'city' | 'postalCode' | 'coordinates'>

export function cityJson({ district, city, postalCode, coordinates }: CityFields): string {
  return joined([
    field('district', district),
    field('city', city),
    field('postalCode', postalCode),
    coordinates === undefined ? '' : `"coordinates":${JSON.stringify(coordinates)}`,
  ])
}
