import type { GeolocationResult, Include, Language } from '../../contract/geo/geolocation.ts'
import type { Address } from '../../parts/net/address.ts'
import type { Library } from '../library.ts'
import { textAt } from '../mmdb/fields.ts'
import { splitCityName } from '../place/city-name.ts'
import { areMeasured, isMeasuredProduct } from '../place/measured-confidence.ts'
import type { Names, PlaceNames } from '../place/names.ts'
import { createSelect, type Json } from './select-fields.ts'
import type { Extras } from './write-result.ts'

/** The options of a look-up that change its answer. */
export interface AnswerOptions {
  readonly fields?: readonly string[] | undefined
  readonly include?: readonly Include[] | undefined
  readonly lang?: Language | undefined
}

/** Finds the extras of the answer for an address. */
export type FindExtras = (address: Address) => Extras

/** Returns undefined if the caller asks for no extras, or is over the cap: then answers have none. */
export function createFindExtras(
  geo: Pick<Library, 'prefix' | 'findPrivacy'>,
  { fields, include = [] }: Pick<AnswerOptions, 'fields' | 'include'>,
  { degraded }: { readonly degraded: boolean },
): FindExtras | undefined {
  const hasPrefix = include.includes('network') || asks(fields, 'network.prefix')
  const hasPrivacy = include.includes('privacy') || asksPrivacy(fields)
  const hasConfidence = asksConfidence({ fields, include })
  if (degraded || !(hasPrefix || hasPrivacy || hasConfidence)) return undefined
  const subjects = hasPrivacy ? 'place and privacy' : 'place'
  return (address) => ({
    prefix: hasPrefix ? geo.prefix(address, subjects) : undefined,
    finding: hasPrivacy ? geo.findPrivacy(address) : undefined,
    hasConfidence,
  })
}

/**
 * Returns a header that names the requested data that this server does not have. The body cannot show that:
 * a missing field may also mean that it has no value for this address.
 */
export function notIncluded(
  geo: Pick<Library, 'list'>,
  options: Pick<AnswerOptions, 'fields' | 'include'>,
  { hasHostnames }: { readonly hasHostnames: boolean },
): { readonly headers: { readonly 'not-included': string } } | undefined {
  const { fields, include = [] } = options
  if (fields === undefined && include.length === 0) return undefined
  const missing: Include[] = []
  const measured = () => geo.list().filter(({ product }) => isMeasuredProduct(product))
  if (asksConfidence(options) && !areMeasured(measured())) missing.push('confidence')
  const asksForPrivacy = include.includes('privacy') || asksPrivacy(fields)
  if (asksForPrivacy && !geo.list().some(({ subject }) => subject === 'privacy')) {
    missing.push('privacy')
  }
  if (!hasHostnames && asksHostname(options)) missing.push('hostname')
  return missing.length === 0 ? undefined : { headers: { 'not-included': missing.join(', ') } }
}

/** Applies the caller's options to the JSON of an answer. */
export type Shape = (json: string, address: Address | null, hostname?: string) => Json

/** Whether the answer needs the hostname, which `Shape` does not find itself. */
export function asksHostname({ fields, include = [] }: AnswerOptions): boolean {
  return include.includes('hostname') || asks(fields, 'hostname')
}

/** Returns undefined if the options change nothing but extras, which `writeResult` writes. */
export function createShape(
  geo: Pick<Library, 'names'>,
  options: AnswerOptions,
  { degraded }: { readonly degraded: boolean },
): Shape | undefined {
  const { fields, lang = 'en' } = options
  if (fields === undefined && lang === 'en' && !asksHostname(options)) return undefined
  const select = fields === undefined ? undefined : createSelect(fields, { degraded })
  const inLanguage = (result: GeolocationResult, address: Address | null): GeolocationResult => {
    if (lang === 'en' || address === null || result.location === undefined) return result
    return { ...result, location: translate(result.location, geo.names(address), lang) }
  }
  return (json, address, hostname) => {
    const { query, ...rest } = inLanguage(JSON.parse(json), address)
    const result = { query, hostname, ...rest }
    return select === undefined ? result : select(result)
  }
}

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

function asksConfidence({ fields, include = [] }: AnswerOptions): boolean {
  return (
    include.includes('confidence') ||
    (fields?.some((name) => /^location\.confidence\b/.test(name)) ?? false)
  )
}

function asks(fields: AnswerOptions['fields'], name: string): boolean {
  return fields?.includes(name) ?? false
}

function asksPrivacy(fields: AnswerOptions['fields'] = []): boolean {
  return fields.some((name) => /^(sources\.)?privacy\b/.test(name))
}

/** The name that the decoder reads by default. */
function defaultName(names: Names): string | undefined {
  const [first] = Object.keys(names)
  return textAt(names, 'en') ?? (first === undefined ? undefined : textAt(names, first))
}

function readName(level: keyof PlaceNames, name: string | undefined): string | undefined {
  return level === 'city' ? splitCityName(name).city : name
}
