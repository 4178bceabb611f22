import * as v from 'valibot'
import type { Operation } from '../operation.ts'

/** The fields of a result that a proxy gets, by the name of the header. */
export const VISITOR_HEADERS = {
  'X-Geo-Country': { field: 'location.country.code', description: 'ISO 3166-1', example: 'GB' },
  'X-Geo-Region': { field: 'location.region.code', description: 'ISO 3166-2', example: 'GB-ENG' },
  'X-Geo-City': { field: 'location.city', description: 'Percent-encoded UTF-8', example: 'London' },
  'X-Geo-ASN': { field: 'network.asn', description: 'Autonomous system', example: 'AS20712' },
  'X-Geo-Timezone': {
    field: 'location.timezone',
    description: 'IANA timezone name',
    example: 'Europe/London',
  },
} as const

function countries(description: string) {
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[A-Za-z]{2}(,[A-Za-z]{2})*$/,
        'must be country codes such as DE, separated by commas',
      ),
      v.description(description),
    ),
  )
}

/** Strict: a misspelt list would let everybody in. */
const ForwardAuthQuery = v.strictObject({
  allow: countries('Refuse visitors of all countries but these (ISO 3166-1 alpha-2)'),
  deny: countries('Refuse visitors of these countries (ISO 3166-1 alpha-2)'),
})

export const forwardAuthOperations = [
  {
    id: 'authorizeVisitor',
    method: 'get',
    path: '/v1/forward-auth',
    tag: 'Geolocation',
    access: 'geo:read',
    limit: 'plan',
    metered: true,
    summary: 'Tell a proxy where its visitor is, and whether to let it in',
    description:
      'For the forward authentication of nginx, Caddy and Traefik. The visitor has the address that `/v1/ip/me` locates, so the proxy must be trusted. With a list of countries, a request in which a trusted proxy names no visitor is 400. Addresses of private and reserved networks are let in. A visitor whose country is unknown is refused by `allow`, and let in by `deny`.',
    query: ForwardAuthQuery,
    replies: {
      204: {
        description: 'The visitor may pass; a header without a value is omitted',
        schema: null,
        headers: VISITOR_HEADERS,
      },
    },
    errors: ['FORBIDDEN'],
  },
] as const satisfies readonly Operation[]
