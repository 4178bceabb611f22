import { countries } from 'countries-list'
import { asciiFields } from './json-text.ts'

/** What the package states about a country. */
interface Stated {
  readonly capital: string
  /** ISO 4217, the main one first. */
  readonly currency: readonly string[]
  /** With the area code where several countries share one. */
  readonly phone: readonly number[]
  readonly languages: readonly string[]
}

/**
 * What the package has otherwise. Calling codes: International Telecommunication Union, list of E.164 country codes,
 * where the package states several. Languages: IANA's registry of BCP 47, in which `pa` is Punjabi, `pap` Papiamento.
 */
const CORRECTED: Readonly<Record<string, Partial<Stated>>> = {
  AW: { languages: ['nl', 'pap'] },
  CW: { languages: ['nl', 'pap', 'en'] },
  DO: { phone: [1] },
  PR: { phone: [1] },
  XK: { phone: [383] },
}

const stated: Readonly<Record<string, Stated>> = countries
const known = new Map<string, string>()

/** Capital, currency, calling code and languages of a country as fields of its JSON object; '' if there are none. */
export function countryFactsJson(code: string): string {
  const json = known.get(code) ?? makeJson(code)
  known.set(code, json)
  return json
}

function makeJson(code: string): string {
  const own = stated[code]
  if (own === undefined) return ''
  const { capital, currency, phone, languages } = { ...own, ...CORRECTED[code] }
  const [callingCode] = phone
  return asciiFields({
    capital: capital === '' ? undefined : capital,
    currency: currency[0],
    callingCode: callingCode === undefined ? undefined : `+${callingCode}`,
    languages: languages.length === 0 ? undefined : languages,
  })
}
