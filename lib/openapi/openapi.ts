import type { Operation, Tag } from './contract/operation.ts'
import { operations } from './contract/operations.ts'
import { errorExamples } from './openapi-errors.ts'
import { PARAMETERS, SECURITY_SCHEMES, toOperation } from './openapi-operation.ts'
import { HEADERS, sharedResponses } from './openapi-responses.ts'
import { namedSchemas } from './openapi-schemas.ts'
import { INTERFACE_VERSION } from './version.ts'

const TAGS = {
  System: 'The service itself: its health, its description and its plans.',
  Geolocation: 'Where an IP address is, which network it belongs to and what time it is there.',
  Account: 'Profile, API keys, sites, usage and audit log of the caller.',
  Billing: 'Subscription, invoices and payment, through the payment processor.',
  Telemetry: 'What browsers measure on registered sites, and its percentiles by hour.',
  Contact: 'Inquiries for enterprise or custom pricing.',
} as const satisfies Record<Tag, string>

const INFO = {
  title: 'Meridian API',
  version: INTERFACE_VERSION,
  summary: 'IP geolocation with accounts, API keys, billing and browser telemetry',
  description: [
    'Bodies are JSON, of at most 16 KB where an operation does not say otherwise. HEAD works wherever GET does.',
    'Every answer names its request in `X-Request-Id`. An error is an `ApiError`: its `code` is stable, its `message` may change.',
    'An unknown path is 404. A path that is known answers any other method with 405, and `OPTIONS` with 204; both name its methods in `Allow`.',
    'Where requests are limited, `RateLimit-Policy` and `RateLimit` tell the limit and what is left of it; above it the answer is 429 with `Retry-After`.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
} as const

/** The interface as an OpenAPI 3.1 document; `baseUrl` is without a slash at the end. */
export function createOpenApi(baseUrl: string): { openapi: string; [key: string]: unknown } {
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: baseUrl, description: 'This server' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: toPaths(operations),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: sharedResponses(operations),
      examples: errorExamples(operations),
      schemas: namedSchemas(),
    },
  }
}

function toPaths(rows: readonly Operation[]): Record<string, object> {
  const paths = Map.groupBy(rows, ({ path }) => path)
  return Object.fromEntries([...paths].map(([path, onPath]) => [path, toPathItem(onPath)]))
}

function toPathItem(rows: readonly Operation[]): object {
  return {
    parameters: [{ $ref: '#/components/parameters/RequestId' }],
    ...Object.fromEntries(rows.map((row) => [row.method, toOperation(row)])),
  }
}
