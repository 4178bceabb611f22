import type { Address } from '../../../lib/address.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { type Located, locate } from '../../../lib/geo/locate.ts'
import { type RawNetwork, toNetworkOwner } from '../../../lib/geo/network-owner.ts'
import { type RawPlace, toPlace } from '../../../lib/geo/place.ts'
import { BUILT_AT } from '../../geo-files.ts'

export const ANY_ADDRESS: Address = { version: 4, text: '192.0.2.1', bits: 0xc000_0201 }

/** A database that says the same of every address. */
export function says(provider: string, place?: RawPlace, network?: RawNetwork): GeoDatabase {
  const finding = {
    place: place && toPlace(place),
    network: network && toNetworkOwner(network),
  }
  return {
    name: provider,
    provider,
    metadata: {
      databaseType: 'Fake',
      description: '',
      ipVersion: 6,
      recordSize: 24,
      nodeCount: 1,
      builtAt: BUILT_AT,
    },
    residence: 'read',
    bytes: 0,
    find: () => finding,
    ipv4Starts: () => Uint32Array.of(0),
    countRecords: () => 1,
  }
}

/** What the databases together say, the first one first. */
export function joined(...databases: readonly GeoDatabase[]): Located {
  return locate(databases, ANY_ADDRESS)
}
