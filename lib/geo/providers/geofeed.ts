import { WITHHELD } from '../place/finding.ts'
import { maxmind } from './maxmind.ts'
import type { Schema } from './schema.ts'

/** The compiled geofeeds: MaxMind's layout, and records for networks without a location. See `compileGeofeeds`. */
export const geofeed: Schema = {
  name: 'geofeed',
  fits: (sample) => 'geofeed' in sample,
  provider: () => 'geofeed',
  read: (record, regionCode) =>
    record['geofeed'] === 'no place' ? WITHHELD : maxmind.read(record, regionCode),
  ...(maxmind.names && { names: maxmind.names }),
}
