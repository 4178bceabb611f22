import type { Language } from '../../contract/geo/geolocation.ts'
import type { Include } from '../../contract/geo/includes.ts'
import type { Address } from '../../parts/net/address.ts'
import type { Library } from '../library.ts'
import { textAt } from '../mmdb/fields.ts'
import { splitCityName } from '../place/city-name.ts'
import { asciiJson } from '../place/json-text.ts'
import { areMeasured, isMeasuredProduct } from '../place/measured-confidence.ts'
import type { Names, PlaceNames } from '../place/names.ts'
import { mapMembers } from './json-members.ts'
import { createSelect } from './select-fields.ts'
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
  geo: Pick<Library, 'prefix' | 'findPrivacy' | 'findOthers'>,
  { fields, include = [] }: Pick<AnswerOptions, 'fields' | 'include'>,
  { degraded }: { readonly degraded: boolean },
): FindExtras | undefined {
  const hasPrefix = include.includes('network') || asks(fields, 'network.prefix')
  const hasPrivacy = include.includes('privacy') || asksPrivacy(fields)
  const hasConfidence = asksConfidence({ fields, include })
  const hasOthers = asksOthers({ fields, include })
  const hasFacts = asksFacts({ fields, include })
  const asksNone = !(hasPrefix || hasPrivacy || hasConfidence || hasOthers || hasFacts)
  if (degraded || asksNone) return undefined
  const about = hasOthers ? 'records' : 'place'
  const subjects = hasPrivacy ? (`${about} and privacy` as const) : about
  return (address) => ({
    prefix: hasPrefix ? geo.prefix(address, subjects) : undefined,
    finding: hasPrivacy ? geo.findPrivacy(address) : undefined,
    hasConfidence,
    hasFacts,
    others: hasOthers ? geo.findOthers(address) : undefined,
  })
}

/** The requested data that this server does not have, by name. */
export interface Missing {
  readonly notIncluded: Include[]
  /** For answers without `meta`, such as CSV or selected fields. */
  readonly headers: { readonly 'not-included': string }
}

/** Returns undefined if the server has all that is requested. */
export function findMissing(
  geo: Pick<Library, 'list'>,
  options: Pick<AnswerOptions, 'fields' | 'include'>,
  { hasHostnames }: { readonly hasHostnames: boolean },
): Missing | undefined {
  const { fields, include = [] } = options
  if (fields === undefined && include.length === 0) return undefined
  const { list } = geo
  const measured = () => list().filter(({ product }) => isMeasuredProduct(product))
  const asksForPrivacy = include.includes('privacy') || asksPrivacy(fields)
  const known: readonly [name: Include, isAsked: boolean, isKnown: () => boolean][] = [
    ['confidence', asksConfidence(options), () => areMeasured(measured())],
    ['privacy', asksForPrivacy, () => list().some(({ subject }) => subject === 'privacy')],
    ['registered', asksOthers(options), () => list().some(({ knowsOthers }) => knowsOthers)],
    ['hostname', asksHostname(options), () => hasHostnames],
  ]
  const missing = known.flatMap(([name, isAsked, isKnown]) => (isAsked && !isKnown() ? [name] : []))
  if (missing.length === 0) return undefined
  return { notIncluded: missing, headers: { 'not-included': missing.join(', ') } }
}

/** Applies the caller's options to the JSON of an answer. */
export type Shape = (json: string, address: Address | null, hostname?: string) => string

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
  const inLanguage = (json: string, address: Address | null): string => {
    if (lang === 'en' || address === null) return json
    return mapMembers(json, (member, value) =>
      member === 'location' ? translate(value, geo.names(address), lang) : value,
    )
  }
  return (json, address, hostname) => {
    const named = withHostname(inLanguage(json, address), hostname)
    return select === undefined ? named : select(named)
  }
}

/** The hostname stands after the query. */
function withHostname(json: string, hostname: string | undefined): string {
  if (hostname === undefined) return json
  return mapMembers(json, (member, value) =>
    member === 'query' ? `${value},"hostname":${asciiJson(hostname)}` : value,
  )
}

/**
 * Replaces only the names in the JSON of a location, so that an answer locates the same place in all languages.
 * `records` are the names of the address in all databases. The first record with the same default name translates
 * a name; without one, the name stays.
 */
export function translate(
  location: string,
  records: readonly PlaceNames[],
  language: Language,
): string {
  const translated = (level: keyof PlaceNames, json: string): string => {
    const name: unknown = JSON.parse(json)
    const record = records.find((one) => readName(level, defaultName(one[level] ?? {})) === name)
    const known = record && readName(level, textAt(record[level] ?? {}, language))
    return known === undefined ? json : asciiJson(known)
  }
  return mapMembers(location, (member, value) => {
    if (member === 'city') return translated(member, value)
    if (!isNamed(member)) return value
    return mapMembers(value, (inner, text) => (inner === 'name' ? translated(member, text) : text))
  })
}

function asksConfidence({ fields, include = [] }: AnswerOptions): boolean {
  return (
    include.includes('confidence') ||
    (fields?.some((name) => /^location\.confidence\b/.test(name)) ?? false)
  )
}

function asksOthers({ fields, include = [] }: AnswerOptions): boolean {
  const isOther = (name: string) => /^location\.re(gistered|presented)Country\b/.test(name)
  return include.includes('registered') || (fields?.some(isOther) ?? false)
}

/** Facts about the country, which `location.country` alone does not ask for. */
function asksFacts({ fields, include = [] }: AnswerOptions): boolean {
  const isFact = (name: string) =>
    /^location\.country\.(capital|currency|callingCode|languages)$/.test(name)
  return include.includes('country') || (fields?.some(isFact) ?? false)
}

function asks(fields: AnswerOptions['fields'], name: string): boolean {
  return fields?.includes(name) ?? false
}

function asksPrivacy(fields: AnswerOptions['fields'] = []): boolean {
  return fields.some((name) => /^(sources\.)?privacy\b/.test(name))
}

const NAMED = ['continent', 'country', 'region', 'registeredCountry', 'representedCountry'] as const

/** Whether the member of a location is an object with a name. */
function isNamed(member: string): member is (typeof NAMED)[number] {
  return NAMED.some((name) => name === member)
}

/** The name that the decoder reads by default. */
function defaultName(names: Names): string | undefined {
  const [first] = Object.keys(names)
  return textAt(names, 'en') ?? (first === undefined ? undefined : textAt(names, first))
}

function readName(level: keyof PlaceNames, name: string | undefined): string | undefined {
  return level === 'city' ? splitCityName(name).city : name
}
