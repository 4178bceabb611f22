import * as v from 'valibot'
import {
  ApiErrorBody,
  Asked,
  flag,
  hint,
  quoted,
  RequestId,
  strictObject,
  text,
} from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import {
  GeolocationResult,
  Lang,
  LIST_FIELDS,
  located,
  NotIncluded,
  SelectedResult,
} from './geolocation.ts'
import { describeIncludes, includeOf, LIST_INCLUDES } from './includes.ts'

export const BATCH_MAX = 1_000

/** Strict: a misspelt `fields` would return every field. */
export const BatchBody = strictObject('Addresses to locate in one request', {
  ips: v.pipe(
    v.array(v.string()),
    v.minLength(1),
    v.maxLength(BATCH_MAX),
    v.description('IPv4 and IPv6 addresses'),
  ),
  fields: v.optional(
    v.pipe(
      v.array(
        v.picklist(
          LIST_FIELDS,
          ({ input }) => `${quoted(input)} is not a field of a result${hint(LIST_FIELDS, input)}`,
        ),
      ),
      v.minLength(1),
      v.description('Return only these fields'),
    ),
  ),
  include: v.optional(
    v.pipe(
      v.array(includeOf(LIST_INCLUDES)),
      v.minLength(1),
      v.description(
        describeIncludes('Add to the results what they lack by default', LIST_INCLUDES),
      ),
    ),
  ),
  lang: v.optional(Lang),
})
export type BatchBody = v.InferOutput<typeof BatchBody>

export const BatchError = strictObject(
  'The error for a text that is not an address and so does not count towards the cap',
  {
    query: Asked,
    error: ApiErrorBody.entries.error,
  },
)

export const BatchResponse = strictObject('The locations of the addresses', {
  results: v.pipe(
    v.array(v.union([GeolocationResult, BatchError, SelectedResult])),
    v.description('One result per address, in the order of the request'),
  ),
  meta: strictObject('About the answer', {
    tier: text('Plan of the caller'),
    requestId: RequestId,
    degraded: flag('Whether some results are reduced because the cap is exceeded'),
    notIncluded: v.optional(NotIncluded),
  }),
})

const { tier, requestId, degraded, precision } = located.meta

const JSON_LINES = `{"query":{"value":"81.2.69.160"},"location":{"city":"London"}}\n`
const CSV = 'ip,location.city,degraded,error\r\n81.2.69.160,London,,\r\n'

function batchReplies(example: v.InferOutput<typeof BatchResponse>) {
  const { 200: reply } = ok('A result or an error for each address', BatchResponse, example)
  return {
    200: { ...reply, otherForms: { 'application/x-ndjson': JSON_LINES, 'text/csv': CSV } },
  } as const
}

export const batchOperations = [
  {
    id: 'locateBatch',
    method: 'post',
    path: '/v1/ip/batch',
    tag: 'Geolocation',
    summary: `Locate up to ${BATCH_MAX} addresses`,
    description:
      'Each address counts as one request towards the monthly cap, found or not. Up to 100 addresses count as one request towards the rate limit.',
    access: 'geo:read',
    limit: 'plan',
    requestsIn: ({ ips }: BatchBody) => Math.ceil(ips.length / 100),
    body: {
      schema: BatchBody,
      example: { ips: ['81.2.69.160', 'nowhere'], fields: ['query.value', 'location.city'] },
      maxBytes: 65_536,
    },
    replies: batchReplies({
      results: [
        { ...located, meta: { precision, degraded } },
        {
          query: { type: 'ip', value: 'nowhere' },
          error: { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' },
        },
      ],
      meta: { tier, requestId, degraded },
    }),
  },
] as const satisfies readonly Operation[]
