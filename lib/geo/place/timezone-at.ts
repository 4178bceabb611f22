import lookUpZone from '@photostructure/tz-lookup'

/** The IANA timezone at a place in degrees, Etc/GMT±h at sea; undefined outside ±90 and ±180. */
export function timezoneAt(latitude: number, longitude: number): string | undefined {
  const exists = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return exists ? lookUpZone(latitude, longitude) : undefined
}
