import { ipv4FromBits } from '../../parts/net/address.ts'
import type { Network } from '../../parts/net/network.ts'
import type { RegionNames } from '../files/regions.ts'
import { Double, type MmdbValue } from '../mmdb/value.ts'
import { createMmdbWriter, treePrefix } from '../mmdb/writer.ts'
import { findCountry } from '../place/countries.ts'
import { type OverlayRow, type Row, readOverlayRows } from './row.ts'

export interface OverlayOptions {
  /** Epoch milliseconds, for the metadata. */
  readonly builtAt: number
  /** Names for rows that have only the code of a region. */
  readonly regionNames: RegionNames
}

/**
 * Compiles rows such as `10.0.0.0/8,country=DE,city=Berlin` into a database. The narrowest network
 * that contains an address wins. If a network has several rows, the last one wins. Blank lines and
 * lines that begin with # are ignored. Throws an error that names the first bad line.
 */
export function compileOverlay(csv: string, options: OverlayOptions): Uint8Array {
  const rows = readOverlayRows(csv).toSorted(
    (a, b) => treePrefix(a.network) - treePrefix(b.network),
  )
  const writer = createMmdbWriter({
    databaseType: 'Meridian-Overlay',
    description: "The operator's own networks",
    builtAt: options.builtAt,
    ipVersion: 6,
  })
  const insert = ({ network, row }: OverlayRow) => {
    writer.insert(network, toRecord(row, options.regionNames))
  }
  const broad = rows.filter(({ network }) => treePrefix(network) < IPV4_DEPTH)
  broad.forEach(insert)
  // The file holds IPv4 at ::/96, which is inside ::/8. A row for ::/8 is not meant for 10.0.0.1.
  if (broad.some(({ network }) => network.address.text === '::')) writer.insert(ALL_IPV4, {})
  rows.slice(broad.length).forEach(insert)
  return writer.toBytes()
}

const IPV4_DEPTH = 96
export const ALL_IPV4: Network = { address: ipv4FromBits(0), prefix: 0 }

/** Uses the layout of MaxMind's City files, so that the same schema reads it. */
export function toRecord(row: Row, regionNames: RegionNames): Readonly<Record<string, MmdbValue>> {
  const { country, city, postalCode } = row
  return compact({
    country: country && { iso_code: country, names: { en: findCountry(country)?.name ?? country } },
    subdivisions: subdivisions(row, regionNames),
    city: city && { names: { en: city } },
    postal: postalCode && { code: postalCode },
    location: location(row),
    traits: compact({
      autonomous_system_number: row.asn,
      autonomous_system_organization: row.organization,
      domain: row.domain,
    }),
  })
}

function subdivisions({ region, regionName, district }: Row, names: RegionNames) {
  if (region === undefined) return undefined
  const name = regionName ?? names[region] ?? region
  const first = { iso_code: region.slice(3), names: { en: name } }
  return district === undefined ? [first] : [first, { names: { en: district } }]
}

function location({ latitude, longitude, accuracyRadiusKm, timezone }: Row): MmdbValue {
  return compact({
    latitude: latitude === undefined ? undefined : new Double(latitude),
    longitude: longitude === undefined ? undefined : new Double(longitude),
    accuracy_radius: accuracyRadiusKm,
    time_zone: timezone,
  })
}

type Fields = Readonly<Record<string, MmdbValue | undefined>>

function compact(fields: Fields): Record<string, MmdbValue> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, MmdbValue] => entry[1] !== undefined),
  )
}
