import type { GeolocationResult } from '../contract/geo/geolocation.ts'
import type { PrivacyFlag } from '../contract/geo/privacy.ts'
import type { AddressSummary, SummaryBody } from '../contract/geo/summary.ts'

export type Summary = Omit<AddressSummary, 'meta'>

interface SummaryOptions {
  readonly top: number
  readonly include?: SummaryBody['include']
}

type List = 'countries' | 'regions' | 'cities' | 'networks'
type Item<Name extends List> = Omit<Summary[Name][number], 'count'>

/** Counts results; `summarize` lists the `top` most frequent values, and adds what is included. */
export function createSummary({ top, include = [] }: SummaryOptions) {
  const seen = new Set<string>()
  const precision: Summary['precision'] = { city: 0, region: 0, country: 0, continent: 0, none: 0 }
  const countries = new Counts<Item<'countries'>>()
  const regions = new Counts<Item<'regions'>>()
  const cities = new Counts<Item<'cities'>>()
  const networks = new Counts<Item<'networks'>>()
  const flags: NonNullable<Summary['privacy']> = {}
  let total = 0
  let invalid = 0
  return {
    addInvalid: (times = 1) => {
      total += times
      invalid += times
    },
    /** `times`: how often the address occurs. */
    add: (address: string, { location, network, privacy, meta }: GeolocationResult, times = 1) => {
      total += times
      seen.add(address)
      precision[meta?.precision ?? 'none'] += times
      countries.add(countryOf(location), times)
      regions.add(location?.region, times)
      cities.add(cityOf(location), times)
      networks.add(networkOf(network), times)
      for (const flag of flagsOf(privacy)) flags[flag] = (flags[flag] ?? 0) + times
    },
    summarize: (): Summary => ({
      addresses: { total, distinct: seen.size, invalid },
      precision,
      countries: countries.top(top),
      regions: regions.top(top),
      cities: cities.top(top),
      networks: networks.top(top),
      ...(include.includes('privacy') && { privacy: flags }),
    }),
  }
}

function countryOf(location: GeolocationResult['location']): Item<'countries'> | undefined {
  if (location?.country === undefined) return undefined
  const { code, name } = location.country
  return { code, name }
}

function cityOf(location: GeolocationResult['location']): Item<'cities'> | undefined {
  if (location?.city === undefined || location.country === undefined) return undefined
  const { city, region, country } = location
  return { name: city, ...(region && { region: region.code }), country: country.code }
}

function networkOf(network: GeolocationResult['network']): Item<'networks'> | undefined {
  if (network?.asn === undefined) return undefined
  const { asn, organization } = network
  return { asn, ...(organization !== undefined && { organization }) }
}

/** The names of the flags that are true, such as `vpn`. */
function flagsOf(privacy: GeolocationResult['privacy']): PrivacyFlag[] {
  const raised = Object.entries(privacy ?? {}).filter(([, value]) => value === true)
  // safe: only flags are true
  return raised.map(([name]) => name as PrivacyFlag)
}

/** Counts equal objects, whose fields must come in the same order. */
class Counts<Value extends object> {
  readonly #counted = new Map<string, Value & { count: number }>()

  add(value: Value | undefined, times: number): void {
    if (value === undefined) return
    const key = JSON.stringify(value)
    const known = this.#counted.get(key)
    if (known === undefined) this.#counted.set(key, { ...value, count: times })
    else known.count += times
  }

  /** The most frequent values; of equally frequent ones, those that came first. */
  top(most: number): (Value & { count: number })[] {
    const all = [...this.#counted.values()]
    return all.sort((a, b) => b.count - a.count).slice(0, most)
  }
}
