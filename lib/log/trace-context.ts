/** Where a request stands in a trace that crosses services, as its caller tells. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The step of the trace that asks, 16 hexadecimal digits. */
  readonly parentId: string
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const ZEROS = /^0+$/

/**
 * Reads the header `traceparent` (W3C Trace Context, section 3.2). null: it is none. Versions after
 * 00 may have more at the end, and are read as far as they are known.
 */
export function parseTraceparent(text: string): TraceContext | null {
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(text) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return ZEROS.test(traceId) || ZEROS.test(parentId) ? null : { traceId, parentId }
}
