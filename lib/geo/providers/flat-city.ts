import type { DecodedMap } from '../mmdb/decoder.ts'
import { numberAt, textAt } from '../mmdb/fields.ts'
import { toPlace } from '../place/place.ts'
import type { Schema } from './schema.ts'

/**
 * The flat City and Country files of ip-location-db: country_code, state1, state2, city, postcode,
 * latitude, longitude, timezone. https://github.com/sapics/ip-location-db
 */
export const flatCity: Schema = {
  name: 'flat-city',
  fits: (sample) => typeof sample['country_code'] === 'string' && !('continent_code' in sample),
  provider: () => undefined,
  read: (record, regionCode) => {
    const code = textAt(record, 'country_code')
    const region = textAt(record, 'state1')
    const found = code && region ? regionCode(code, region) : undefined
    const place = toPlace({
      country: { code },
      region: found && region ? { code: found, name: region } : undefined,
      district: textAt(record, 'state2'),
      city: textAt(record, 'city'),
      postalCode: textAt(record, 'postcode'),
      latitude: degrees(record, 'latitude'),
      longitude: degrees(record, 'longitude'),
      timezone: textAt(record, 'timezone'),
    })
    return { place, network: undefined }
  },
}

/** The files hold 32-bit floats: 37.422 reads as 37.422000885. Four decimal places are 11 metres. */
function degrees(record: DecodedMap, key: string): number | undefined {
  const value = numberAt(record, key)
  return value === undefined ? undefined : Math.round(value * 10_000) / 10_000
}
