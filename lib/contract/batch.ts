import * as v from 'valibot'
import { ApiErrorBody, RequestId } from './common.ts'
import { FIELDS, GeolocationResult, located, SelectedResult } from './geolocation.ts'
import type { Operation } from './operation.ts'

export const BATCH_MAX = 1_000

export const BatchBody = v.pipe(
  v.object({
    ips: v.pipe(
      v.array(v.string()),
      v.minLength(1),
      v.maxLength(BATCH_MAX),
      v.description('IPv4 and IPv6 addresses'),
    ),
    fields: v.optional(
      v.pipe(
        v.array(v.picklist(FIELDS, 'is no field of a result')),
        v.minLength(1),
        v.description('Only these fields are answered'),
      ),
    ),
  }),
  v.description('Addresses to locate together'),
)
export type BatchBody = v.InferOutput<typeof BatchBody>

export const BatchError = v.pipe(
  v.strictObject({
    query: v.strictObject({ type: v.string(), value: v.string() }),
    error: ApiErrorBody.entries.error,
  }),
  v.description('A text that is no address; it does not count towards the cap'),
)

export const BatchResponse = v.pipe(
  v.strictObject({
    results: v.pipe(
      v.array(v.union([GeolocationResult, BatchError, SelectedResult])),
      v.description('One for each address, in the order of the request'),
    ),
    meta: v.strictObject({
      tier: v.pipe(v.string(), v.description('Plan of the caller')),
      requestId: RequestId,
      degraded: v.pipe(
        v.boolean(),
        v.description('Whether some results are reduced because the cap is exceeded'),
      ),
    }),
  }),
  v.description('Where the addresses are'),
)

const { tier, requestId, degraded, precision } = located.meta

export const batchOperations = [
  {
    id: 'locateBatch',
    method: 'post',
    path: '/v1/ip/batch',
    tag: 'Geolocation',
    summary: `Locate up to ${BATCH_MAX} addresses`,
    description:
      'Each address counts as one request towards the monthly cap, found or not; towards the rate limit, a hundred count as one.',
    access: 'geo:read',
    limit: 'plan',
    weigh: ({ ips }: BatchBody) => Math.ceil(ips.length / 100),
    body: {
      schema: BatchBody,
      example: { ips: ['81.2.69.160', 'nowhere'], fields: ['query.value', 'location.city'] },
      maxBytes: 65_536,
    },
    replies: {
      200: {
        description: 'A result or an error for each',
        schema: BatchResponse,
        example: {
          results: [
            { ...located, meta: { precision, degraded } },
            {
              query: { type: 'ip', value: 'nowhere' },
              error: { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' },
            },
          ],
          meta: { tier, requestId, degraded },
        },
      },
    },
  },
] as const satisfies readonly Operation[]
