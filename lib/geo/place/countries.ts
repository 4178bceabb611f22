import table from './countries.json' with { type: 'json' }
import type { Named } from './finding.ts'

/** A country as answers show it: one frozen object, shared by all callers. */
interface Country extends Named {
  readonly continent: Named
  /** Present if the country has exactly one timezone. */
  readonly timezone?: string
  /** Present if the country has several timezones with the same time: one of them. */
  readonly commonTime?: string
  /** Codes such as EU, in the order of the table; empty if there are none. */
  readonly unions: readonly string[]
  readonly flag: string
}

interface CountryRow extends Pick<Country, 'name' | 'timezone' | 'commonTime'> {
  readonly continent: string
}

interface Union {
  readonly members: readonly string[]
  /** ISO 3166-1 codes of members' territories in which the union's treaties apply. */
  readonly territories?: readonly string[]
}

const REGIONAL_INDICATOR_A = 0x1f1e6
const LETTER_A = 0x41

const continents: ReadonlyMap<string, Named> = new Map(
  Object.entries(table.continents).map(([code, name]) => [code, Object.freeze({ code, name })]),
)
const countries: ReadonlyMap<string, Country> = new Map(
  Object.entries<CountryRow>(table.countries).map(([code, row]) => [code, toCountry(code, row)]),
)

/** Finds a country in countries.json by its ISO 3166-1 alpha-2 code, or XK for Kosovo. */
export function findCountry(code: string): Country | undefined {
  return countries.get(code)
}

export function listCountries(): Country[] {
  return [...countries.values()]
}

/** The English name of a continent code such as EU. */
export function continentName(code: string): string | undefined {
  return continents.get(code)?.name
}

/** Two regional indicator symbols, drawn as a flag; undefined if `code` is not two ASCII letters. */
export function flagEmoji(code: string): string | undefined {
  if (!/^[a-z]{2}$/i.test(code)) return undefined
  const symbol = (letter: string) => REGIONAL_INDICATOR_A + letter.charCodeAt(0) - LETTER_A
  return String.fromCodePoint(...[...code.toUpperCase()].map(symbol))
}

function toCountry(code: string, row: CountryRow): Country {
  const continent = continents.get(row.continent)
  const flag = flagEmoji(code)
  if (continent === undefined || flag === undefined) {
    throw new Error(`Cannot read countries.json: "${code}" has no known continent or no flag`)
  }
  return Object.freeze({ code, ...row, continent, unions: Object.freeze(unionsOf(code)), flag })
}

function unionsOf(code: string): string[] {
  return Object.entries<Union>(table.unions)
    .filter(([, { members, territories = [] }]) => [...members, ...territories].includes(code))
    .map(([union]) => union)
}
