import { locate } from '../../../lib/geo/answer/locate.ts'
import type { NetworkList } from '../../../lib/geo/asn/prefixes.ts'
import { createSystems } from '../../../lib/geo/asn/systems.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import type { Address } from '../../../lib/parts/net/address.ts'
import { networkText } from '../../../lib/parts/net/network.ts'
import type { Records } from '../../support/geo-files.ts'
import { recordingLog } from '../../support/helpers.ts'
import { openRecords } from '../open-file.ts'

/** The record of an owner. */
export const as = (number: number, organization = `Owner of ${number}`) => ({
  autonomous_system_number: number,
  autonomous_system_organization: organization,
})

/** Opens a new file of owners. */
export const open = (records: Records) => openRecords(records, 'GeoLite2-ASN')

export function systemsOf(databases: readonly GeoDatabase[], now = () => 0) {
  const log = recordingLog()
  const lookUp = (address: Address) => locate(databases, address)
  return { ...createSystems({ databases: () => databases, lookUp, log, now }), log }
}

export function texts(list: NetworkList): string[] {
  return Array.from({ length: list.length }, (_, n) => {
    const { address, prefix } = list.at(n)
    return networkText(address, prefix)
  })
}

/** The prefixes of a system, IPv4 first. */
export async function prefixesOf(
  databases: readonly GeoDatabase[],
  asn: number,
): Promise<string[]> {
  const system = await systemsOf(databases).find(asn)
  return system === null ? [] : [...texts(system.ipv4), ...texts(system.ipv6)]
}
