import type { Provider } from './providers/schema.ts'

/** The attribution that each provider's licence requires; empty for operators' own data. */
const ATTRIBUTIONS: Readonly<Record<Provider, string>> = {
  maxmind:
    'This product includes GeoLite2 data created by MaxMind, available from https://www.maxmind.com',
  dbip: 'IP Geolocation by DB-IP, https://db-ip.com (CC BY 4.0)',
  ipinfo: 'IP address data powered by IPinfo, https://ipinfo.io (CC BY-SA 4.0)',
  iana: 'IANA Time Zone Database, https://www.iana.org/time-zones',
  ip2proxy: 'Proxy data by IP2Location, https://www.ip2location.com',
  lists:
    'Address lists of Amazon, Google, Microsoft, Oracle, Cloudflare, Fastly, DigitalOcean, Linode, Apple, the Tor Project (https://www.torproject.org) and X4BNet (https://github.com/X4BNet/lists_vpn, MIT), compiled by Meridian',
  'ip-location-db':
    'ASN data by RouteViews (https://www.routeviews.org), NRO (https://www.nro.net) and DB-IP (https://db-ip.com), CC BY 4.0, merged by ip-location-db and compiled by Meridian',
  overlay: '',
  geofeed: '',
}

const BY_NAME: ReadonlyMap<string, string> = new Map(Object.entries(ATTRIBUTIONS))

/** The attribution that a provider's data requires; empty for an operator's own data, and for files we do not know. */
export function attributionOf(provider: string): string {
  return BY_NAME.get(provider) ?? ''
}
