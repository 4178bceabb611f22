import * as v from 'valibot'
import { count, flag, RequestId, strictObject, text } from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import { NotIncluded, PRECISIONS } from './geolocation.ts'
import { includeOf } from './includes.ts'
import { PRIVACY_FLAGS } from './privacy.ts'

const SUMMARY_MAX = 10_000
const TOP_MAX = 1_000
export const TOP_DEFAULT = 10
const SUMMARY_INCLUDES = ['privacy'] as const

export const SummaryBody = strictObject('Addresses to count by where they are', {
  ips: v.pipe(
    v.array(v.string()),
    v.minLength(1),
    v.maxLength(SUMMARY_MAX),
    v.description('IPv4 and IPv6 addresses; one that occurs several times counts each time'),
  ),
  top: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(TOP_MAX),
      v.description(`Length of each list of the answer; default: ${TOP_DEFAULT}`),
    ),
  ),
  include: v.optional(
    v.pipe(
      v.array(includeOf(SUMMARY_INCLUDES)),
      v.minLength(1),
      v.description('Add to the answer what it lacks by default: privacy adds privacy'),
    ),
  ),
})
export type SummaryBody = v.InferOutput<typeof SummaryBody>

const counted = <Entries extends v.ObjectEntries>(description: string, entries: Entries) =>
  v.pipe(
    v.array(v.strictObject({ ...entries, count: count('Addresses there') })),
    v.description(`${description} with the most addresses, most first`),
  )

export const AddressSummary = strictObject('How many addresses are where', {
  addresses: strictObject('The addresses of the request', {
    total: count('All texts of the request'),
    distinct: count('Different addresses among them'),
    invalid: count('Texts that are not addresses; they count only here and in total'),
  }),
  precision: v.pipe(
    v.strictObject(v.entriesFromList(PRECISIONS, count('Addresses with this precision'))),
    v.description('Addresses by the precision of their location'),
  ),
  countries: counted('The countries', {
    code: text('ISO 3166-1 alpha-2'),
    name: text('In English'),
  }),
  regions: counted('The regions', { code: text('ISO 3166-2'), name: text('In English') }),
  cities: counted('The cities', {
    name: text('In English'),
    region: v.optional(text('Code of the region')),
    country: text('Code of the country'),
  }),
  networks: counted('The autonomous systems', {
    asn: text('Its number, such as AS20712'),
    organization: v.optional(text('Name of its operator')),
  }),
  privacy: v.optional(
    v.pipe(
      v.strictObject(
        v.entriesFromList(PRIVACY_FLAGS, v.optional(count('Addresses with this flag'))),
      ),
      v.description(
        'Only if included: addresses by the flags of privacy that are true; one that is true for none is omitted',
      ),
    ),
  ),
  meta: strictObject('About the answer', {
    tier: text('Plan of the caller'),
    requestId: RequestId,
    degraded: flag('Whether some locations are reduced because the cap is exceeded'),
    notIncluded: v.optional(NotIncluded),
  }),
})
export type AddressSummary = v.InferOutput<typeof AddressSummary>

export const summaryOperations = [
  {
    id: 'summarizeAddresses',
    method: 'post',
    path: '/v1/ip/summary',
    tag: 'Geolocation',
    summary: 'Count up to 10,000 addresses by country, region, city and network',
    description:
      'Each address counts as one request towards the monthly cap, found or not. Up to 100 addresses count as one request towards the rate limit.',
    access: 'geo:read',
    limit: 'plan',
    requestsIn: ({ ips }: SummaryBody) => Math.ceil(ips.length / 100),
    body: {
      schema: SummaryBody,
      example: { ips: ['81.2.69.160', '81.2.69.161', '10.0.0.1', 'nowhere'], top: 5 },
      maxBytes: 524_288,
    },
    replies: ok('The counts', AddressSummary, {
      addresses: { total: 4, distinct: 3, invalid: 1 },
      precision: { city: 2, region: 0, country: 0, continent: 0, none: 1 },
      countries: [{ code: 'GB', name: 'United Kingdom', count: 2 }],
      regions: [{ code: 'GB-ENG', name: 'England', count: 2 }],
      cities: [{ name: 'London', region: 'GB-ENG', country: 'GB', count: 2 }],
      networks: [{ asn: 'AS20712', organization: 'Andrews & Arnold Ltd', count: 2 }],
      meta: {
        tier: 'pro',
        requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01',
        degraded: false,
      },
    }),
  },
] as const satisfies readonly Operation[]
