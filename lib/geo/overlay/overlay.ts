import { ipv4FromBits } from '../address.ts'
import type { Network } from '../network.ts'
import { findCountry } from './countries.ts'
import { Double, type MmdbValue } from './mmdb-value.ts'
import { createMmdbWriter } from './mmdb-writer.ts'
import { type OverlayRow, type Row, readOverlayRows } from './overlay-row.ts'
import type { RegionNames } from './regions.ts'

export interface OverlayOptions {
  /** Epoch milliseconds, for the metadata. */
  readonly builtAt: number
  /** For rows that give the code of a region without its name. */
  readonly regionNames: RegionNames
}

/**
 * Compiles rows such as `10.0.0.0/8,country=DE,city=Berlin` into a database. The narrowest network
 * that holds an address decides; of the same network twice, the later row. Blank lines and lines
 * that begin with # are passed over. Throws an error that names the first bad line.
 */
export function compileOverlay(csv: string, options: OverlayOptions): Uint8Array {
  const rows = readOverlayRows(csv).toSorted((a, b) => width(a) - width(b))
  const writer = createMmdbWriter({
    databaseType: 'Meridian-Overlay',
    description: "The operator's own networks",
    builtAt: options.builtAt,
    ipVersion: 6,
  })
  const insert = ({ network, row }: OverlayRow) => {
    writer.insert(network, toRecord(row, options.regionNames))
  }
  const broad = rows.filter((row) => width(row) < IPV4_WIDTH)
  broad.forEach(insert)
  // IPv4 lies at ::/96 of the file, but 10.0.0.1 is in no IPv6 network of an operator.
  if (broad.some(({ network }) => network.address.text === '::')) writer.insert(ALL_IPV4, {})
  rows.slice(broad.length).forEach(insert)
  return writer.toBytes()
}

const IPV4_WIDTH = 96
const ALL_IPV4: Network = { address: ipv4FromBits(0), prefix: 0 }

/** Length of the prefix in the file, whose addresses all have 128 bits. */
function width({ network: { address, prefix } }: OverlayRow): number {
  return address.version === 4 ? prefix + IPV4_WIDTH : prefix
}

/** In the layout of MaxMind's City files, so that the same schema reads it. */
function toRecord(row: Row, regionNames: RegionNames): MmdbValue {
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
