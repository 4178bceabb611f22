import type { DecodedMap } from '../mmdb/decoder.ts'
import { textAt } from '../mmdb/fields.ts'
import { toNetworkOwner } from '../place/network-owner.ts'
import { type RawNamed, toPlace } from '../place/place.ts'
import type { Schema } from './schema.ts'

/**
 * IPinfo Lite, with text fields only: asn, as_name, as_domain, country, country_code, continent,
 * continent_code; and its predecessor, where `country` is the code and `country_name` the name.
 * https://ipinfo.io/developers/ipinfo-lite-database
 */
export const ipinfo: Schema = {
  name: 'ipinfo',
  fits: (sample) =>
    'as_name' in sample || 'continent_code' in sample || typeof sample['country_name'] === 'string',
  provider: () => 'ipinfo',
  read: (record) => {
    const place = toPlace({
      continent: named(record, 'continent'),
      country: named(record, 'country'),
    })
    const network = toNetworkOwner({
      asn: asn(record),
      organization: textAt(record, 'as_name'),
      domain: textAt(record, 'as_domain'),
    })
    return { place, network }
  },
  asn,
}

function asn(record: DecodedMap): string | undefined {
  return textAt(record, 'asn')
}

function named(record: DecodedMap, key: 'country' | 'continent'): RawNamed {
  const plain = textAt(record, key)
  const code = textAt(record, `${key}_code`) ?? plain
  const name = textAt(record, `${key}_name`) ?? (code === plain ? undefined : plain)
  return { code, name }
}
