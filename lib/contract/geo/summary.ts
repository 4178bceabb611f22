import * as v from 'valibot'
import { Count, RequestId, strictObject } from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import { includeOf, NotIncluded, PRECISIONS } from './geolocation.ts'
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
    v.array(v.strictObject({ ...entries, count: Count })),
    v.description(`${description} with the most addresses, most first`),
  )

export const AddressSummary = strictObject('How many addresses are where', {
  addresses: v.strictObject({
    total: v.pipe(Count, v.description('All texts of the request')),
    distinct: v.pipe(Count, v.description('Different addresses among them')),
    invalid: v.pipe(Count, v.description('Texts that are not addresses; they count nowhere else')),
  }),
  precision: v.pipe(
    v.strictObject(v.entriesFromList(PRECISIONS, Count)),
    v.description('Addresses by the precision of their location'),
  ),
  countries: counted('The countries', { code: v.string(), name: v.string() }),
  regions: counted('The regions', { code: v.string(), name: v.string() }),
  cities: counted('The cities', {
    name: v.string(),
    region: v.optional(v.pipe(v.string(), v.description('Code of the region'))),
    country: v.pipe(v.string(), v.description('Code of the country')),
  }),
  networks: counted('The autonomous systems', {
    asn: v.string(),
    organization: v.optional(v.string()),
  }),
  privacy: v.optional(
    v.pipe(
      v.strictObject(v.entriesFromList(PRIVACY_FLAGS, v.optional(Count))),
      v.description(
        'Only if included: addresses by the flags of privacy that are true; one that is true for none is omitted',
      ),
    ),
  ),
  meta: v.strictObject({
    tier: v.pipe(v.string(), v.description('Plan of the caller')),
    requestId: RequestId,
    degraded: v.pipe(
      v.boolean(),
      v.description('Whether some locations are reduced because the cap is exceeded'),
    ),
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
