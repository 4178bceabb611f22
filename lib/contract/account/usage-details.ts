import * as v from 'valibot'
import { count, listOf, strictObject } from '../common.ts'
import { ok } from '../operation.ts'

/** Older counts are removed. */
export const USAGE_KEPT_DAYS = 92

/** The columns by which requests can be counted, in the order of an answer's fields. */
export const USAGE_COLUMNS = ['day', 'key', 'operation', 'status'] as const
export type UsageColumn = (typeof USAGE_COLUMNS)[number]

/** Stands for the key of requests with a session. */
export const SESSION = 'session'

/** Whether an answer is an error. A 404 is not: it answers look-ups of addresses that no database knows. */
export function isUsageError(status: number): boolean {
  return status >= 400 && status !== 404
}

const Key = v.pipe(
  v.string(),
  v.regex(new RegExp(`^([0-9a-f]{32}|${SESSION})$`), `must be the id of a key, or ${SESSION}`),
  v.description(`The id of a key, or \`${SESSION}\` for requests with a session`),
)
const OperationName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z]{1,50}$/, 'must be the operationId of an operation'),
  v.description('The `operationId` of an operation in this document'),
)
const Day = v.pipe(v.string(), v.isoDate('must be a date, such as 2026-01-15'))

export const UsageDetailsQuery = v.object({
  from: v.optional(
    v.pipe(Day, v.description('First day, UTC; by default 29 days before the last one')),
  ),
  to: v.optional(v.pipe(Day, v.description('Last day, UTC, included; by default today'))),
  key: v.optional(Key),
  operation: v.optional(OperationName),
  by: v.optional(
    v.pipe(
      listOf(USAGE_COLUMNS, `must be of ${USAGE_COLUMNS.join(', ')}, separated by commas`),
      v.description(
        `What each row is about: some of ${USAGE_COLUMNS.join(', ')}, separated by commas`,
      ),
    ),
    'day,status',
  ),
})
export type UsageDetailsQuery = v.InferOutput<typeof UsageDetailsQuery>

const UsageRow = v.strictObject({
  day: v.optional(v.pipe(Day, v.description('The day, UTC'))),
  key: v.optional(Key),
  operation: v.optional(OperationName),
  status: v.optional(count('HTTP status of the answers')),
  requests: count('Requests of the row'),
})
export type UsageRow = v.InferOutput<typeof UsageRow>

export const UsageDetails = strictObject('Requests of the caller over time', {
  from: v.pipe(Day, v.description('First day, UTC')),
  to: v.pipe(Day, v.description('Last day, UTC, included')),
  requests: count('All requests of the period, after the filters'),
  rows: v.pipe(
    v.array(UsageRow),
    v.description('With the fields that `by` names, in their order; none without requests'),
  ),
})
export type UsageDetails = v.InferOutput<typeof UsageDetails>

const { 200: reply } = ok('The counts', UsageDetails, {
  from: '2025-12-17',
  to: '2026-01-15',
  requests: 1250,
  rows: [
    { day: '2026-01-14', status: 200, requests: 1200 },
    { day: '2026-01-15', status: 200, requests: 47 },
    { day: '2026-01-15', status: 429, requests: 3 },
  ],
})

export const usageDetailsReplies = {
  200: {
    ...reply,
    otherForms: { 'text/csv': 'day,status,requests\r\n2026-01-15,200,47\r\n' },
  },
} as const
