import type { LIST_INCLUDES } from './includes.ts'

type Fields = Readonly<Record<string, string>>

/** The columns of a result in CSV, each with its field: in the API, in commands and on pages. */
export const CSV_FIELDS = {
  version: 'query.ipVersion',
  precision: 'meta.precision',
  continent: 'location.continent.code',
  country: 'location.country.code',
  country_name: 'location.country.name',
  region: 'location.region.code',
  region_name: 'location.region.name',
  district: 'location.district',
  city: 'location.city',
  postal_code: 'location.postalCode',
  latitude: 'location.coordinates.latitude',
  longitude: 'location.coordinates.longitude',
  accuracy_radius: 'location.coordinates.accuracyRadius',
  timezone: 'location.timezone',
  utc_offset: 'location.utcOffset',
  geo_confidence: 'location.geoConfidence',
  asn: 'network.asn',
  organization: 'network.organization',
  domain: 'network.domain',
} as const satisfies Fields

/** Further columns for what is included, likewise. */
export const INCLUDED_CSV_FIELDS: Readonly<Record<(typeof LIST_INCLUDES)[number], Fields>> = {
  network: { prefix: 'network.prefix' },
  privacy: {
    hosting: 'privacy.hosting',
    vpn: 'privacy.vpn',
    proxy: 'privacy.proxy',
    tor: 'privacy.tor',
    relay: 'privacy.relay',
    residential_proxy: 'privacy.residentialProxy',
    service: 'privacy.service',
    provider: 'privacy.provider',
  },
  confidence: {
    country_confidence: 'location.confidence.country',
    region_confidence: 'location.confidence.region',
    city_confidence: 'location.confidence.city',
  },
  registered: {
    registered_country: 'location.registeredCountry.code',
    represented_country: 'location.representedCountry.code',
  },
  country: {
    capital: 'location.country.capital',
    currency: 'location.country.currency',
    calling_code: 'location.country.callingCode',
    languages: 'location.country.languages',
  },
}
