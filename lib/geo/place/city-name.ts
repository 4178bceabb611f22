import { plainName } from './plain-name.ts'

/**
 * Rivers and landscapes that distinguish German towns, as in Frankfurt (Oder): part of the name,
 * not a district. From the names of cities in GeoLite2 City.
 */
const LANDSCAPES = new Set(
  `allgau anhalt bodensee deister dithmarschen dosse eder efze elbe hessen hohentwiel holstein jagst
  lahn leine niederrhein oder ohm ostfriesland pfalz prignitz rheinland rhld rhon saale sauerland
  sieg taunus unterweser vils westf wetterau wumme`.split(/\s+/),
)

/** A Swiss canton, as in Buchs (SG). */
const CANTON = /^[A-Z]{2}$/

export interface CityName {
  readonly city: string | undefined
  readonly district?: string
}

/** Splits `Amsterdam (Centrum)`: DB-IP writes the district after the city's name. */
export function splitCityName(name: string | undefined): CityName {
  if (!name?.endsWith(')')) return { city: name }
  const start = lastParenthesis(name)
  const city = name.slice(0, Math.max(0, start)).trimEnd()
  const district = name.slice(start + 1, -1)
  return city === '' || isPartOfName(district) ? { city: name } : { city, district }
}

/** Districts are names or numbers, as in (13th Arrondissement); words such as (village) are not. */
function isPartOfName(text: string): boolean {
  return CANTON.test(text) || !/^[\p{Lu}\p{N}]/u.test(text) || LANDSCAPES.has(plainName(text))
}

/** The index of the parenthesis that the one at the end of `name` closes; -1 if there is none. */
function lastParenthesis(name: string): number {
  let depth = 0
  for (let at = name.length - 1; at >= 0; at--) {
    if (name[at] === ')') depth += 1
    if (name[at] === '(') depth -= 1
    if (depth === 0) return at
  }
  return -1
}
