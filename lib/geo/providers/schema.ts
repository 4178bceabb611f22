import type { PrivacyField } from '../../contract/geo/privacy.ts'
import type { DecodedMap } from '../mmdb/decoder.ts'
import type { MmdbMetadata } from '../mmdb/mmdb.ts'
import type { Finding } from '../place/finding.ts'
import type { PlaceNames } from '../place/names.ts'
import type { RawNetwork } from '../place/network-owner.ts'

/** Returns the ISO 3166-2 code of the region called `name` in a country; undefined if unknown. */
export type RegionCode = (country: string, name: string) => string | undefined

/** A layout of records, which providers may share. */
export interface Schema {
  readonly name: string
  /** Whether `sample`, a record of the file, has this layout. */
  fits(sample: DecodedMap): boolean
  /** The provider's short name, if the metadata states it. */
  provider(metadata: MmdbMetadata): string | undefined
  /** Converts a record. `regionCode` is for files that name regions without their codes. */
  read(record: DecodedMap, regionCode: RegionCode): Finding
  /**
   * Returns the value that a record states for each field; undefined for the others. Present only if the file is
   * about privacy: it then locates nothing.
   */
  privacy?(record: DecodedMap): (field: PrivacyField) => boolean | string | undefined
  /** The names of those who state it; absent if it is the provider. */
  privacySources?(record: DecodedMap): readonly string[]
  /** The autonomous system alone, without the cost of `read`. */
  asn?(record: DecodedMap): RawNetwork['asn']
  /** Returns the names of a record that was decoded with all names; absent if the layout has one language. */
  names?(record: DecodedMap): PlaceNames
}
