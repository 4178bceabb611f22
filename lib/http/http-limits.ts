/** Limits on requests, also listed in docs/operations.md. Times are in milliseconds. */
export const LIMITS = {
  /** For the whole head; checked once per checking interval. */
  headersTimeout: 8_000,
  /** For the head and the body together. */
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than load balancers keep idle connections: otherwise they reuse closed ones. */
  keepAliveTimeout: 65_000,
  /** Request line and headers together, in bytes. */
  maxHeaderSize: 16 * 1024,
  /** Overrides NODE_OPTIONS: a lenient parser may split requests differently from a proxy. */
  insecureHTTPParser: false,
  /** HTTP/1.1 without Host gets an error in our form, not the empty one of node:http. */
  requireHostHeader: false,
} as const

/** The value of the header Connection, and the next header, of an answer that keeps the connection open. */
export function keepAliveText(timeoutMs: number): string {
  return `keep-alive\r\nKeep-Alive: timeout=${timeoutMs / 1_000}`
}
