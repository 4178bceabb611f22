import { type Located, locate } from '../../lib/geo/answer/locate.ts'
import type { GeoDatabase } from '../../lib/geo/database.ts'
import { type RawNetwork, toNetworkOwner } from '../../lib/geo/place/network-owner.ts'
import { type RawPlace, toPlace } from '../../lib/geo/place/place.ts'
import type { Address } from '../../lib/parts/net/address.ts'
import { BUILT_AT } from '../support/geo-files.ts'

export const ANY_ADDRESS: Address = { version: 4, text: '192.0.2.1', bits: 0xc000_0201 }

/** A database with the same record for every address. */
export function fakeDatabase(
  provider: string,
  place?: RawPlace,
  network?: RawNetwork,
): GeoDatabase {
  const finding = {
    place: place && toPlace(place),
    network: network && toNetworkOwner(network),
  }
  return {
    name: provider,
    provider,
    product: provider,
    metadata: {
      databaseType: 'Fake',
      description: '',
      ipVersion: 6,
      recordSize: 24,
      nodeCount: 1,
      builtAt: BUILT_AT,
    },
    loadedBy: 'reading',
    bytes: 0,
    find: () => finding,
    subject: 'place',
    findPrivacy: () => undefined,
    findNames: () => undefined,
    findOthers: () => undefined,
    knowsOthers: false,
    matchedBits: () => 0,
    ipv4Starts: () => Uint32Array.of(0),
    knowsSystems: finding.network?.asn !== undefined,
    systems: () => ({
      root: 0,
      nodeCount: 0,
      child: () => 0,
      asn: () => Number(finding.network?.asn?.slice(2) ?? 0),
    }),
    countRecords: () => 1,
  }
}

const fake = (provider: string) => (place?: RawPlace, network?: RawNetwork) =>
  fakeDatabase(provider, place, network)

/** Databases of the providers of these names: `a(london)` has London at every address. */
export const [a, b, c, d] = [fake('a'), fake('b'), fake('c'), fake('d')] as const

/** What is found about an address that no database knows. */
export const NOWHERE: Located = {
  place: undefined,
  confidence: undefined,
  finestProduct: undefined,
  measured: undefined,
  timezone: undefined,
  network: undefined,
  placeSources: [],
  networkSources: [],
}

/** What the databases, in order of priority, say together about any address. */
export function locateIn(...databases: readonly GeoDatabase[]): Located {
  return locate(databases, ANY_ADDRESS)
}
