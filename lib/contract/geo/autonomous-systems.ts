import * as v from 'valibot'
import { ApiErrorBody, count, pageOf, RequestId, strictObject, text } from '../common.ts'
import { type Operation, ok } from '../operation.ts'

const PREFIXES_MAX = 1_000

const SystemQuery = v.object({
  family: v.optional(v.pipe(v.picklist(['4', '6']), v.description('List only IPv4 or IPv6'))),
  ...pageOf({ name: 'Prefixes', usual: 100, most: PREFIXES_MAX }),
})

export type SystemQuery = v.InferOutput<typeof SystemQuery>

const Ipv4Size = strictObject('The size in IPv4', {
  prefixes: count('The fewest that cover the addresses'),
  addresses: count('Addresses in these prefixes'),
})

const Ipv6Size = strictObject('The size in IPv6', {
  prefixes: count('The fewest that cover the addresses'),
  addresses: v.pipe(
    v.string(),
    v.regex(/^\d+$/),
    v.description('A decimal number as text: most are too large for a JSON number'),
  ),
})

const CountryCode = text('ISO 3166-1 alpha-2')

export const AutonomousSystem = strictObject(
  'An autonomous system and its prefixes in the loaded databases; fields without a value are omitted',
  {
    asn: v.pipe(v.string(), v.regex(/^AS\d+$/), v.description('Its number, such as AS20712')),
    organization: v.optional(text('Name of its operator')),
    domain: v.optional(text('Domain of its operator')),
    ipv4: Ipv4Size,
    ipv6: Ipv6Size,
    countries: v.pipe(
      v.array(
        v.strictObject({
          code: CountryCode,
          name: text('In English'),
          ipv4: Ipv4Size,
          ipv6: Ipv6Size,
        }),
      ),
      v.description(
        'The countries of the prefixes, most IPv4 addresses first. A prefix counts as a whole for the country of its first address, and nowhere if that is unknown',
      ),
    ),
    prefixes: v.pipe(
      v.array(
        v.strictObject({
          prefix: text('In CIDR form'),
          country: v.optional(v.pipe(CountryCode, v.description('That of the first address'))),
        }),
      ),
      v.description(
        'One page of the fewest prefixes that cover the addresses, IPv4 first, by address',
      ),
    ),
    total: count('Prefixes of the requested families on all pages'),
    limit: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(PREFIXES_MAX),
      v.description('The most prefixes of this page'),
    ),
    offset: count('Prefixes before this page'),
    meta: strictObject('About the answer', {
      tier: text('Plan of the caller'),
      requestId: RequestId,
    }),
  },
)
export type AutonomousSystem = v.InferOutput<typeof AutonomousSystem>

const requestId = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'

export const autonomousSystemOperations = [
  {
    id: 'getAutonomousSystem',
    method: 'get',
    path: '/v1/asn/{asn}',
    tag: 'Geolocation',
    summary: 'Describe an autonomous system and list its prefixes',
    description:
      'A prefix belongs to the system that a look-up of its addresses answers in network.asn.',
    access: 'geo:read',
    limit: 'plan',
    metered: true,
    params: {
      asn: {
        description:
          'The number of the system, up to 4294967295, or as two halves 0.20712 (RFC 5396), with or without AS or ASN before it',
        example: 'AS20712',
        schema: v.pipe(
          v.string(),
          v.regex(/^([Aa][Ss][Nn]?)?([0-9]{1,10}|[0-9]{1,5}[.][0-9]{1,5})$/),
        ),
      },
    },
    query: SystemQuery,
    replies: {
      ...ok('The system', AutonomousSystem, {
        asn: 'AS20712',
        organization: 'Andrews & Arnold Ltd',
        domain: 'aa.net.uk',
        ipv4: { prefixes: 1, addresses: 65_536 },
        ipv6: { prefixes: 1, addresses: '79228162514264337593543950336' },
        countries: [
          {
            code: 'GB',
            name: 'United Kingdom',
            ipv4: { prefixes: 1, addresses: 65_536 },
            ipv6: { prefixes: 1, addresses: '79228162514264337593543950336' },
          },
        ],
        prefixes: [
          { prefix: '81.2.0.0/16', country: 'GB' },
          { prefix: '2001:8b0::/32', country: 'GB' },
        ],
        total: 2,
        limit: 100,
        offset: 0,
        meta: { tier: 'pro', requestId },
      }),
      404: {
        description: 'No database has a prefix of this system',
        schema: ApiErrorBody,
        example: {
          error: { code: 'NOT_FOUND', message: 'No prefix of AS64496 is known' },
          meta: { requestId },
          query: { type: 'asn', value: 'AS64496' },
        },
      },
    },
    errors: ['BAD_REQUEST', 'PLAN_CAP_EXCEEDED'],
  },
] as const satisfies readonly Operation[]
