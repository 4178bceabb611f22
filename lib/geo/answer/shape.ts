import type { GeolocationResult, Include, Language } from '../../contract/geo/geolocation.ts'
import type { Address } from '../../net/address.ts'
import type { Library } from '../library.ts'
import type { PrivacyFinding } from '../privacy/finding.ts'
import { createSelect, type Json } from './select-fields.ts'
import { translate } from './translate.ts'

/** The options of a look-up that change its answer. */
export interface Asked {
  readonly fields?: readonly string[] | undefined
  readonly include?: readonly Include[] | undefined
  readonly lang?: Language | undefined
}

/** Changes the JSON of a default answer as the caller's options say. */
export type Shape = (json: string, address: Address | null, hostname?: string) => Json

/** Whether the answer needs the hostname, which `Shape` does not find itself. */
export function asksHostname({ fields, include = [] }: Asked): boolean {
  return include.includes('hostname') || asks(fields, 'hostname')
}

/** Returns undefined if the caller gave no options: the default answer is then right as it is. */
export function createShape(
  geo: Pick<Library, 'prefix' | 'names' | 'findPrivacy'>,
  { fields, include = [], lang = 'en' }: Asked,
  { degraded }: { readonly degraded: boolean },
): Shape | undefined {
  if (fields === undefined && include.length === 0 && lang === 'en') return undefined
  const select = fields === undefined ? undefined : createSelect(fields, { degraded })
  const inLanguage = (result: GeolocationResult, address: Address | null): GeolocationResult => {
    if (lang === 'en' || address === null || result.location === undefined) return result
    return { ...result, location: translate(result.location, geo.names(address), lang) }
  }
  // Over the cap, answers have neither.
  const hasPrefix = !degraded && (include.includes('network') || asks(fields, 'network.prefix'))
  const hasPrivacy = !degraded && (include.includes('privacy') || asksPrivacy(fields))
  const subjects = hasPrivacy ? 'place and privacy' : 'place'
  return (json, address, hostname) => {
    const result: GeolocationResult = JSON.parse(json)
    const prefix = hasPrefix && address !== null ? geo.prefix(address, subjects) : undefined
    const finding = hasPrivacy && address !== null ? geo.findPrivacy(address) : undefined
    const extended = extend(inLanguage(result, address), { prefix, finding, hostname })
    return select === undefined ? extended : select(extended)
  }
}

function asks(fields: Asked['fields'], name: string): boolean {
  return fields?.includes(name) ?? false
}

function asksPrivacy(fields: Asked['fields'] = []): boolean {
  return fields.some((name) => /^(sources\.)?privacy\b/.test(name))
}

interface Extras {
  readonly prefix: string | undefined
  readonly finding: PrivacyFinding | undefined
  readonly hostname: string | undefined
}

/** Fields that are undefined are not in the JSON. */
function extend(
  { query, location, network, sources, meta }: GeolocationResult,
  { prefix, finding, hostname }: Extras,
): Json {
  return {
    query,
    hostname,
    location,
    network: prefix === undefined ? network : { ...network, prefix },
    privacy: finding?.privacy,
    sources: finding === undefined ? sources : { ...sources, privacy: finding.sources },
    meta,
  }
}
