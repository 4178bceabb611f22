import type { AutonomousSystem } from '../../contract/geo/autonomous-systems.ts'
import type { GeolocationResult } from '../../contract/geo/geolocation.ts'
import type { Address } from '../../parts/net/address.ts'
import type { Network } from '../../parts/net/network.ts'
import type { LookupResult } from '../answer/write-result.ts'
import type { NetworkList } from './prefixes.ts'

export type LookUp = (address: Address) => LookupResult

/** The prefixes of a system, by address. */
export interface SystemNetworks {
  readonly ipv4: NetworkList
  readonly ipv6: NetworkList
}

export type SystemSummary = Pick<
  AutonomousSystem,
  'organization' | 'domain' | 'ipv4' | 'ipv6' | 'countries'
>

const LOOK_UPS_PER_STEP = 20

/**
 * Looks up the first address of each prefix. Organization and domain are the first that are known.
 * Yields often, so that callers can pause.
 */
export function* summarize(
  { ipv4, ipv6 }: SystemNetworks,
  lookUp: LookUp,
): Generator<void, SystemSummary> {
  const whole = new Size()
  const countries = new Map<string, Country>()
  let owner: Owner = {}
  for (const list of [ipv4, ipv6]) {
    for (let n = 0; n < list.length; n++) {
      if (n % LOOK_UPS_PER_STEP === 0) yield
      const network = list.at(n)
      const found = lookUp(network.address)
      owner = fillOwner(owner, found)
      whole.add(network)
      countryIn(countries, found)?.size.add(network)
    }
  }
  return { ...owner, ...whole.toJson(), countries: listCountries(countries) }
}

/** Returns the code of the country in which a look-up has found the address. */
export function countryCode({ place }: LookupResult): string | undefined {
  return place?.country?.code
}

type Owner = Pick<AutonomousSystem, 'organization' | 'domain'>

function fillOwner(owner: Owner, { network }: LookupResult): Owner {
  const isComplete = owner.organization !== undefined && owner.domain !== undefined
  if (isComplete || network === undefined) return owner
  const { organization, domain }: NonNullable<GeolocationResult['network']> = JSON.parse(
    network.json,
  )
  return {
    ...(organization !== undefined && { organization }),
    ...(domain !== undefined && { domain }),
    ...owner,
  }
}

interface Country {
  readonly name: string
  readonly size: Size
}

function countryIn(countries: Map<string, Country>, found: LookupResult): Country | undefined {
  const code = countryCode(found)
  if (code === undefined) return undefined
  const country = countries.get(code) ?? { name: countryName(found) ?? code, size: new Size() }
  countries.set(code, country)
  return country
}

function countryName({ place }: LookupResult): string | undefined {
  const location: NonNullable<GeolocationResult['location']> = JSON.parse(
    `{${place?.json.country}}`,
  )
  return location.country?.name
}

function listCountries(countries: ReadonlyMap<string, Country>): AutonomousSystem['countries'] {
  return [...countries]
    .toSorted(([a, { size: one }], [b, { size: other }]) => other.compare(one) || (a < b ? -1 : 1))
    .map(([code, { name, size }]) => ({ code, name, ...size.toJson() }))
}

/** How many prefixes and addresses there are. */
class Size {
  #ipv4Prefixes = 0
  #ipv4Addresses = 0
  #ipv6Prefixes = 0
  #ipv6Addresses = 0n

  add({ address, prefix }: Network): void {
    if (address.version === 4) {
      this.#ipv4Prefixes += 1
      this.#ipv4Addresses += 2 ** (32 - prefix)
    } else {
      this.#ipv6Prefixes += 1
      this.#ipv6Addresses += 1n << BigInt(128 - prefix)
    }
  }

  /** Above 0 if this is larger than the other: has more IPv4 addresses or, if equal, more of IPv6. */
  compare(other: Size): number {
    const more = this.#ipv4Addresses - other.#ipv4Addresses
    if (more !== 0) return more
    if (this.#ipv6Addresses === other.#ipv6Addresses) return 0
    return this.#ipv6Addresses > other.#ipv6Addresses ? 1 : -1
  }

  toJson(): Pick<AutonomousSystem, 'ipv4' | 'ipv6'> {
    return {
      ipv4: { prefixes: this.#ipv4Prefixes, addresses: this.#ipv4Addresses },
      ipv6: { prefixes: this.#ipv6Prefixes, addresses: String(this.#ipv6Addresses) },
    }
  }
}
