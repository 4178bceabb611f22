import { asMap } from '../fields.ts'
import type { Mmdb } from '../mmdb.ts'
import type { DecodedMap } from '../mmdb-decoder.ts'
import { flatCity } from './flat-city.ts'
import { ipinfo } from './ipinfo.ts'
import { maxmind } from './maxmind.ts'
import type { Schema } from './schema.ts'

/** The most particular first: IPinfo's files have a country_code, too. */
const SCHEMAS: readonly Schema[] = [maxmind, ipinfo, flatCity]

/** Some files answer many addresses with an empty map, so one record proves nothing. */
const SAMPLES = 200

/** Returns the schema that the file's records are laid out in. Throws where none is known. */
export function chooseSchema(database: Mmdb): Schema {
  for (const sample of samples(database)) {
    const schema = SCHEMAS.find((candidate) => candidate.fits(sample))
    if (schema !== undefined) return schema
  }
  throw new Error(
    `records of an unknown layout (database type "${database.metadata.databaseType}")`,
  )
}

function* samples(database: Mmdb): IterableIterator<DecodedMap> {
  for (const offset of database.offsets(SAMPLES)) yield asMap(database.decode(offset))
}
