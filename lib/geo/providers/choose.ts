import { asMap } from '../mmdb/fields.ts'
import type { Mmdb } from '../mmdb/mmdb.ts'
import { flatCity } from './flat-city.ts'
import { geofeed } from './geofeed.ts'
import { ipinfo } from './ipinfo.ts'
import { maxmind, maxmindCountry } from './maxmind.ts'
import { freeLists, ip2proxy, ipinfoPrivacy, maxmindAnonymous } from './privacy-files.ts'
import type { Schema } from './schema.ts'

/**
 * The first that fits a record is chosen, so the most specific comes first: for example, the files of IPinfo and
 * IP2Proxy also have a country_code, which is all that `flatCity` asks for.
 */
export const SCHEMAS: readonly Schema[] = [
  freeLists,
  maxmindAnonymous,
  ipinfoPrivacy,
  ip2proxy,
  geofeed,
  maxmindCountry,
  maxmind,
  ipinfo,
  flatCity,
]

/** Many records may be empty, so one record is not enough to recognize a schema. */
const SAMPLES = 200

/** Returns the schema of the file's records. Throws if it is unknown. */
export function chooseSchema(database: Mmdb): Schema {
  for (const offset of database.offsets(SAMPLES)) {
    const sample = asMap(database.decode(offset))
    const schema = SCHEMAS.find((candidate) => candidate.fits(sample, database.metadata))
    if (schema !== undefined) return schema
  }
  throw new Error(
    `records of an unknown layout (database type "${database.metadata.databaseType}")`,
  )
}
