import type { PrivacyField } from '../../contract/geo/privacy.ts'
import type { DecodedMap } from '../mmdb/decoder.ts'
import type { MmdbMetadata } from '../mmdb/mmdb.ts'
import type { LocationFinding } from '../place/finding.ts'
import type { PlaceNames } from '../place/names.ts'
import type { RawNetwork } from '../place/network-owner.ts'
import type { OtherCountries } from '../place/other-countries.ts'

/** Returns the ISO 3166-2 code of the region called `name` in a country; undefined if unknown. */
export type RegionCode = (country: string, name: string) => string | undefined

/** The short name of a provider. lib/geo/attribution.ts has the attribution of each. */
export type Provider =
  | 'dbip'
  | 'geofeed'
  | 'iana'
  | 'ip-location-db'
  | 'ip2proxy'
  | 'ipinfo'
  | 'lists'
  | 'maxmind'
  | 'overlay'

/** A layout of records, which providers may share. */
export interface Schema {
  readonly name: string
  /** Whether `sample`, a record of the file, has this layout. */
  fits(sample: DecodedMap, metadata: MmdbMetadata): boolean
  /** The provider, if the metadata states it. */
  provider(metadata: MmdbMetadata): Provider | undefined
  /** Converts a record. `regionCode` is for files that name regions without their codes. */
  read(record: DecodedMap, regionCode: RegionCode): LocationFinding
  /**
   * Returns a function that returns the value a record states for a field, or undefined. Present only if
   * the file is about privacy: such a file locates nothing.
   */
  privacy?(record: DecodedMap): (field: PrivacyField) => boolean | string | undefined
  /** The names of the sources of these values; absent if the provider is the source. */
  privacySources?(record: DecodedMap): readonly string[]
  /** The autonomous system alone, without the cost of `read`. */
  asn?(record: DecodedMap): RawNetwork['asn']
  /** Returns the countries of registration and representation that a record states; absent if no record does. */
  others?(record: DecodedMap): OtherCountries
  /** Returns the names of a record that was decoded with all names; absent if the layout has one language. */
  names?(record: DecodedMap): PlaceNames
}
