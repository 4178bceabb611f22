import type { Finding } from '../finding.ts'
import type { MmdbMetadata } from '../mmdb.ts'
import type { DecodedMap } from '../mmdb-decoder.ts'

/** ISO 3166-2 code of the region that a country calls `name`. */
export type RegionCode = (country: string, name: string) => string | undefined

/** How the records of one provider's files are laid out. */
export interface Schema {
  readonly name: string
  /** Whether `sample`, a record of the file, is laid out so. */
  fits(sample: DecodedMap): boolean
  /** The provider's short name, where the metadata tells. */
  provider(metadata: MmdbMetadata): string | undefined
  /** Makes a record's fields ours; `regionCode` serves files that only name their regions. */
  read(record: DecodedMap, regionCode: RegionCode): Finding
}
