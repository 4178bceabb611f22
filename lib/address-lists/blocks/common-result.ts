import type { GeolocationResult, Precision } from '../../contract/geo/geolocation.ts'

type Location = GeolocationResult['location']
type Sources = NonNullable<GeolocationResult['sources']>

/** What two results say alike, at the finest precision at which they agree. */
export function commonResult(one: GeolocationResult, other: GeolocationResult): GeolocationResult {
  const precision = agreed(one.location, other.location)
  const location = commonLocation(one.location, other.location, precision)
  const network = alike(one.network, other.network)
  const privacy = alike(one.privacy, other.privacy)
  const degraded = one.meta?.degraded ?? other.meta?.degraded
  return {
    ...(location && { location }),
    ...(network && { network }),
    ...(privacy && { privacy }),
    ...commonSources([one.sources, other.sources], {
      geo: location !== undefined,
      asn: network !== undefined,
      tz: location?.utcOffset !== undefined,
      privacy: privacy !== undefined,
    }),
    meta: { precision, ...(degraded !== undefined && { degraded }) },
  }
}

/** Whether further results can have nothing in common with it. */
export function hasNothing({ location, network, privacy }: GeolocationResult): boolean {
  return location === undefined && network === undefined && privacy === undefined
}

function agreed(one: Location, other: Location): Precision {
  if (one === undefined || one.continent.code !== other?.continent.code) return 'none'
  if (one.country === undefined || one.country.code !== other.country?.code) return 'continent'
  const hasRegion = one.region !== undefined
  if (one.region?.code !== other.region?.code) return 'country'
  if (one.city !== undefined && one.city === other.city) return 'city'
  return hasRegion ? 'region' : 'country'
}

/** The fields that the precision allows, as in answers about addresses. */
function commonLocation(one: Location, other: Location, precision: Precision): Location {
  if (one === undefined || other === undefined || precision === 'none') return undefined
  const { continent, country, region } = one
  const { timezone, utcOffset, registeredCountry, representedCountry, ...same } =
    alike(one, other) ?? {}
  const others = known({ registeredCountry, representedCountry })
  if (precision === 'continent' || country === undefined) return { continent, ...others }
  if (precision === 'country') {
    return { continent, country: { code: country.code, name: country.name }, ...others }
  }
  const finer = precision === 'city' ? same : {}
  return { ...finer, continent, country, ...known({ region, timezone, utcOffset }), ...others }
}

type Known<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function known<Fields extends object>(fields: Fields): Known<Fields> {
  const all = Object.entries(fields).filter(([, value]) => value !== undefined)
  // safe: fields of `fields` without those that are undefined
  return Object.fromEntries(all) as Known<Fields>
}

/** The fields with equal values; undefined if there is none. */
function alike<Value extends object>(
  one: Value | undefined,
  other: Value | undefined,
): Partial<Value> | undefined {
  const others = new Map<string, unknown>(Object.entries(other ?? {}))
  const same = Object.entries(one ?? {}).filter(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(others.get(name)),
  )
  // safe: fields of `one`
  return same.length === 0 ? undefined : (Object.fromEntries(same) as Partial<Value>)
}

function commonSources(
  all: readonly (Sources | undefined)[],
  has: Readonly<Record<keyof Sources, boolean>>,
): { readonly sources?: Sources } {
  const sources: Sources = {}
  for (const name of ['geo', 'asn', 'tz', 'privacy'] as const) {
    const names = new Set(all.flatMap((one) => one?.[name] ?? []))
    if (has[name] && names.size > 0) sources[name] = [...names]
  }
  return Object.keys(sources).length === 0 ? {} : { sources }
}
