import { INTERFACE_VERSION } from '../config/version.ts'
import type { Operation, Tag } from '../contract/operation.ts'
import { operations } from '../contract/operations.ts'
import { errorExamples } from './errors.ts'
import { PARAMETERS, SECURITY_SCHEMES, toOperation } from './operation.ts'
import { HEADERS, sharedResponses } from './responses.ts'
import { namedSchemas } from './schemas.ts'

const TAGS = {
  System: 'The service itself: its health, its description and its plans.',
  Geolocation: 'Location, network and timezone of IP addresses.',
  Account: 'Profile, API keys, sites, usage and audit log of the caller.',
  Billing: 'Subscription, invoices and payment through Stripe.',
  Telemetry: 'Measurements from browsers on registered sites, as percentiles by hour.',
  Contact: 'Inquiries for enterprise or custom pricing.',
} as const satisfies Record<Tag, string>

const INFO = {
  title: 'Meridian API',
  version: INTERFACE_VERSION,
  summary: 'IP geolocation with accounts, API keys, billing and browser telemetry',
  description: [
    'Bodies are JSON of at most 16 KB unless an operation says otherwise. HEAD works wherever GET does.',
    'Every answer carries the id of its request in `X-Request-Id`. An error is an `ApiError`: its `code` is stable, its `message` may change.',
    'An unknown path answers 404. A known path answers an unsupported method with 405 and `OPTIONS` with 204; both list its methods in `Allow`.',
    'Some operations are also tools of the Model Context Protocol at `/mcp`.',
    'If an operation has a rate limit, its answers show the limit in `RateLimit-Policy` and what is left of it in `RateLimit`. Over the limit the answer is 429 with `Retry-After`.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
} as const

/**
 * Writes the API as an OpenAPI 3.1 document, in steps, since all of it takes long. `baseUrl` has no
 * trailing slash.
 */
export function* createOpenApi(baseUrl: string): Generator<void, Record<string, unknown>> {
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: baseUrl, description: 'This server' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: yield* toPaths(operations),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: sharedResponses(operations),
      examples: errorExamples(operations),
      schemas: yield* namedSchemas(),
    },
  }
}

function* toPaths(rows: readonly Operation[]): Generator<void, Record<string, object>> {
  const paths: Record<string, object> = {}
  for (const [path, onPath] of Map.groupBy(rows, (row) => row.path)) {
    paths[path] = toPathItem(onPath)
    yield
  }
  return paths
}

function toPathItem(rows: readonly Operation[]): object {
  return {
    parameters: [{ $ref: '#/components/parameters/RequestId' }],
    ...Object.fromEntries(rows.map((row) => [row.method, toOperation(row)])),
  }
}
