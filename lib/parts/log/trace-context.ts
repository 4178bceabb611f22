/** Trace and parent span that the caller sent. */
export type TraceContext = NonNullable<ReturnType<typeof parseTraceparent>>

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const ZEROS = /^0+$/

/**
 * Parses the header `traceparent` (W3C Trace Context, section 3.2); null if it is invalid. Versions
 * after 00 may append fields, which are ignored.
 */
export function parseTraceparent(text: string) {
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(text) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return ZEROS.test(traceId) || ZEROS.test(parentId) ? null : { traceId, parentId }
}
