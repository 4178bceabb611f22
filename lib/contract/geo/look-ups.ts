import * as v from 'valibot'
import { listOf } from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import { FIELDS, GeolocationResult, Lang, located, unknown } from './geolocation.ts'
import { describeIncludes, INCLUDES } from './includes.ts'

const LookupQuery = v.object({
  fields: v.optional(
    v.pipe(
      listOf(FIELDS, 'must be field names separated by commas, such as location.city,network.asn'),
      v.description(
        'Return only these fields, such as location.city,network.asn. Fields without a value are omitted, even if the schema requires them. Over the cap, meta.degraded is added',
      ),
    ),
  ),
  include: v.optional(
    v.pipe(
      listOf(INCLUDES, `must be of ${INCLUDES.join(', ')}, separated by commas`),
      v.description(
        describeIncludes(
          'Add what the answer lacks by default. Naming such a field in `fields` does the same',
          INCLUDES,
        ),
      ),
    ),
  ),
  lang: v.optional(Lang),
})
export type LookupQuery = v.InferOutput<typeof LookupQuery>

export const Timezone = v.pipe(v.string(), v.description('IANA timezone name'))

const AddressText = v.union([v.pipe(v.string(), v.ipv4()), v.pipe(v.string(), v.ipv6())])

const ipAddress = {
  ipAddress: {
    description: 'An IPv4 address in dotted form or an IPv6 address without a zone id',
    example: '81.2.69.160',
    schema: AddressText,
  },
} as const

const anyText = {
  ipAddress: { description: 'The text to check', example: '81.2.69.160' },
} as const

const geolocation = {
  200: {
    description: 'The location; with `fields` also as text, one line for each field',
    schema: GeolocationResult,
    example: located,
    otherForms: { 'text/plain': 'GB\n' },
  },
  404: {
    description: 'The address is valid, but no database knows its location',
    schema: GeolocationResult,
    example: unknown,
    otherForms: { 'text/plain': '\n' },
  },
} as const

const timezone = {
  200: { description: 'The timezone', schema: Timezone, example: 'Europe/London' },
  404: {
    description: 'No timezone is known for the address; the body is a message',
    schema: v.string(),
    example: 'No timezone data for 10.0.0.1',
  },
} as const

const lookUp = { tag: 'Geolocation', access: 'geo:read', limit: 'plan', metered: true } as const

export const lookUpOperations = [
  {
    id: 'locateCaller',
    method: 'get',
    path: '/v1/ip/me',
    ...lookUp,
    summary: "Locate the caller's address",
    description: 'The address of the connection, or the one in the header of a trusted proxy.',
    query: LookupQuery,
    replies: geolocation,
  },
  {
    id: 'locateAddress',
    method: 'get',
    path: '/v1/ip/{ipAddress}',
    ...lookUp,
    summary: 'Locate an address',
    params: ipAddress,
    query: LookupQuery,
    replies: geolocation,
    errors: ['BAD_REQUEST'],
  },
  {
    id: 'getCallerTimezone',
    method: 'get',
    path: '/v1/ip/me/timezone',
    ...lookUp,
    summary: "Timezone of the caller's address",
    replies: timezone,
    errors: ['ANONYMOUS_ACCESS', 'PLAN_CAP_EXCEEDED'],
  },
  {
    id: 'getTimezone',
    method: 'get',
    path: '/v1/ip/{ipAddress}/timezone',
    ...lookUp,
    summary: 'Timezone of an address',
    params: ipAddress,
    replies: timezone,
    errors: ['BAD_REQUEST', 'PLAN_CAP_EXCEEDED'],
  },
  {
    id: 'validateAddress',
    method: 'get',
    path: '/v1/ip/{ipAddress}/validation',
    ...lookUp,
    summary: 'Check whether a text is an IP address',
    description:
      'True for a valid IPv4 or IPv6 address, false for anything else. The address is not looked up.',
    params: anyText,
    replies: ok('Whether it is an address', v.boolean(), true),
  },
] as const satisfies readonly Operation[]
