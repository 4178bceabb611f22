import * as v from 'valibot'
import { ERROR_STATUS } from '../errors.ts'

export const Timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.description('ISO 8601 date and time, UTC'),
)

export const RequestId = v.pipe(
  v.string(),
  v.uuid(),
  v.description('Equal to the X-Request-Id header of the answer'),
)

export const ErrorCodeName = v.picklist(
  Object.keys(ERROR_STATUS) as (keyof typeof ERROR_STATUS)[], // safe: the keys of a const table
)

export const ApiErrorBody = v.pipe(
  v.strictObject({
    error: v.strictObject({
      code: v.pipe(ErrorCodeName, v.description('Stable; the message may change')),
      message: v.string(),
    }),
    meta: v.optional(v.strictObject({ requestId: RequestId })),
    query: v.optional(v.strictObject({ type: v.string(), value: v.string() })),
  }),
  v.description('What went wrong'),
)
export type ApiErrorBody = v.InferOutput<typeof ApiErrorBody>

/** Text of at most so many characters, as JSON Schema counts them: code points, not units of UTF-16. */
export function textUpTo(most: number) {
  return v.pipe(
    v.string(),
    v.check(
      (text) => text.length <= most || [...text].length <= most,
      `must have at most ${most} characters`,
    ),
    v.metadata({ maxLength: most }),
  )
}

export const UrlText = v.pipe(v.string(), v.url())
