/** What people call our own files, and the providers and types of databases. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    dbip: 'DB-IP',
    geofeed: 'Geofeeds',
    iana: 'IANA',
    // With hyphens at which no line breaks: it is one name.
    'ip-location-db': 'ip\u2011location\u2011db',
    ip2proxy: 'IP2Proxy',
    ipinfo: 'IPinfo',
    lists: 'Free lists',
    maxmind: 'MaxMind',
    overlay: 'Overlay',

    'GeoLite2-City': 'GeoLite2 City',
    'downloaded-GeoLite2-City': 'GeoLite2 City',
    'downloaded-GeoLite2-ASN': 'GeoLite2 ASN',
    'dbip-city-ipv4': 'DB-IP City Lite, IPv4',
    'dbip-city-ipv6': 'DB-IP City Lite, IPv6',
    'downloaded-dbip-city-lite': 'DB-IP City Lite',
    'downloaded-lists': 'Free lists',
    asn: 'ASN',
    geofeeds: 'Geofeeds',

    'DBIP-City-Lite': 'DB-IP City Lite',
    'GeoLite2-ASN': 'GeoLite2 ASN',
    'Meridian-Geofeeds': 'Geofeeds',
    'Meridian-Lists': 'Free lists',
    'Meridian-Overlay': 'Overlay',
    'city ipv4': 'City, IPv4',
    'city ipv6': 'City, IPv6',
    'ip-location-db-ASN': 'ASN',
  }),
)

/** The name of a database, its provider or its type; others, such as an operator's own file, keep theirs. */
export function databaseName(id: string): string {
  return NAMES.get(id) ?? id
}
