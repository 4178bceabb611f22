import table from '../../data/countries.json' with { type: 'json' }

export interface Continent {
  readonly code: string
  readonly name: string
}

/** A country as every answer shows it: one frozen object, shared by all callers. */
export interface Country {
  /** ISO 3166-1 alpha-2, or XK for Kosovo. */
  readonly code: string
  readonly name: string
  readonly continent: Continent
  /** Only where the country has exactly one timezone. */
  readonly timezone?: string
  /** Codes such as EU, in the order of the table; empty when there is none. */
  readonly unions: readonly string[]
  readonly flag: string
}

interface CountryRow {
  readonly name: string
  readonly continent: string
  readonly timezone?: string
}

const REGIONAL_INDICATOR_A = 0x1f1e6
const LETTER_A = 0x41

const continents: ReadonlyMap<string, Continent> = new Map(
  Object.entries(table.continents).map(([code, name]) => [code, Object.freeze({ code, name })]),
)
const countries: ReadonlyMap<string, Country> = new Map(
  Object.entries<CountryRow>(table.countries).map(([code, row]) => [code, toCountry(code, row)]),
)

/** The country of an upper-case ISO 3166-1 alpha-2 code, from the dated table in data/countries.json. */
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

/** Two regional indicator symbols, which fonts draw as a flag; only for two ASCII letters. */
export function flagEmoji(code: string): string | undefined {
  if (!/^[a-z]{2}$/i.test(code)) return undefined
  const letters = code.toUpperCase()
  return String.fromCodePoint(
    REGIONAL_INDICATOR_A + letters.charCodeAt(0) - LETTER_A,
    REGIONAL_INDICATOR_A + letters.charCodeAt(1) - LETTER_A,
  )
}

function toCountry(code: string, row: CountryRow): Country {
  const continent = continents.get(row.continent)
  const flag = flagEmoji(code)
  if (continent === undefined || flag === undefined) {
    throw new Error(`Cannot read data/countries.json: "${code}" has no known continent or no flag`)
  }
  const { name, timezone } = row
  const unions = Object.freeze(unionsOf(code))
  return Object.freeze({
    code,
    name,
    continent,
    ...(timezone !== undefined && { timezone }),
    unions,
    flag,
  })
}

function unionsOf(code: string): string[] {
  return Object.entries(table.unions)
    .filter(([, union]) => union.members.includes(code))
    .map(([union]) => union)
}
