import type { RawPlace } from '../../lib/geo/place/place.ts'

export const country = (code: string): RawPlace => ({ country: { code } })
export const england = { code: 'GB-ENG', name: 'England' }
export const london: RawPlace = {
  country: { code: 'GB' },
  region: england,
  city: 'London',
  latitude: 51.5,
  longitude: -0.1,
  timezone: 'Europe/London',
}
export const leeds: RawPlace = { ...london, city: 'Leeds', latitude: 53.8, longitude: -1.55 }
export const edinburgh: RawPlace = {
  ...leeds,
  region: { code: 'GB-SCT', name: 'Scotland' },
  city: 'Edinburgh',
}
