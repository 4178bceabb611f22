import * as v from 'valibot'
import { Plan } from './billing/billing-schemas.ts'
import { examplePrices, PlanPrices } from './billing/price-schemas.ts'
import { flag, strictObject, Timestamp, text, UrlText } from './common.ts'
import { type Operation, ok } from './operation.ts'

export const HealthStatus = strictObject('Whether the service is working', {
  status: v.pipe(v.picklist(['ok', 'degraded']), v.description('degraded: a check failed')),
  uptime: text('Approximate, such as 3 days'),
  timestamp: Timestamp,
  checks: strictObject('The parts that were checked', {
    geolocation: flag('Whether a look-up works'),
    database: flag('Whether a write works'),
  }),
})
export type HealthStatus = v.InferOutput<typeof HealthStatus>

export const Database = strictObject('A database that answers come from', {
  name: text('The name of the file, or of the release'),
  provider: text('Who makes it, as `sources` of answers name it'),
  type: text('What it contains, as its metadata state it'),
  /** Absent for timezone data, which is named by its release. */
  builtAt: v.exactOptional(v.pipe(Timestamp, v.description('When it was made'))),
  attribution: text('Text that the licence requires next to the data'),
})

export const ServiceInfo = strictObject(
  'Name and version of the service, and the databases it uses',
  {
    name: text('Meridian'),
    version: text('The release of the server'),
    documentation: v.pipe(UrlText, v.description('The API reference')),
    openapi: v.pipe(UrlText, v.description('This description, as OpenAPI 3.1')),
    plans: v.pipe(UrlText, v.description('The list of plans')),
    databases: v.pipe(v.array(Database), v.description('Those that answers come from')),
  },
)
export type ServiceInfo = v.InferOutput<typeof ServiceInfo>

const healthy = {
  status: 'ok',
  uptime: '3 days',
  timestamp: '2026-01-15T12:00:00.000Z',
  checks: { geolocation: true, database: true },
} as const satisfies HealthStatus

const publicRow = { tag: 'System', access: 'public', limit: 'address' } as const

export const systemOperations = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'System',
    summary: 'Check the health of the service',
    description: 'Does a real look-up and a real write. For load balancers.',
    access: 'public',
    limit: 'none',
    replies: {
      200: { description: 'All checks passed', schema: HealthStatus, example: healthy },
      503: {
        description: 'A check failed, or the service is shutting down',
        schema: HealthStatus,
        example: {
          ...healthy,
          status: 'degraded',
          checks: { geolocation: true, database: false },
        },
      },
    },
  },
  {
    id: 'getReadiness',
    method: 'get',
    path: '/health/ready',
    tag: 'System',
    summary: 'Check whether look-ups are answered',
    description: 'They go on while the database is away. For load balancers of several servers.',
    access: 'public',
    limit: 'none',
    replies: {
      200: {
        description: 'Look-ups with a key are answered',
        schema: HealthStatus,
        example: { ...healthy, checks: { geolocation: true, database: false } },
      },
      503: {
        description: 'Look-ups fail, or the service is shutting down',
        schema: HealthStatus,
        example: {
          ...healthy,
          status: 'degraded',
          checks: { geolocation: false, database: false },
        },
      },
    },
  },
  {
    id: 'getOpenApi',
    method: 'get',
    path: '/.well-known/openapi.json',
    ...publicRow,
    summary: 'This description, as OpenAPI 3.1',
    replies: ok(
      'An OpenAPI 3.1 document',
      v.looseObject({ openapi: text('The version of OpenAPI') }),
      {
        openapi: '3.1.0',
      },
    ),
  },
  {
    id: 'getServiceInfo',
    method: 'get',
    path: '/v1',
    ...publicRow,
    summary: 'Describe this service',
    replies: ok('Name, version, links and databases', ServiceInfo, {
      name: 'Meridian',
      version: '0.1.0',
      documentation: 'https://geo.example/docs',
      openapi: 'https://geo.example/.well-known/openapi.json',
      plans: 'https://geo.example/v1/billing/plans',
      databases: [
        {
          name: 'GeoLite2-City',
          provider: 'maxmind',
          type: 'GeoLite2-City',
          builtAt: '2026-01-13T00:00:00.000Z',
          attribution: 'This product includes GeoLite2 data created by MaxMind',
        },
        {
          name: 'tzdata-2026f',
          provider: 'iana',
          type: 'timezones',
          attribution: 'IANA Time Zone Database, https://www.iana.org/time-zones',
        },
      ],
    }),
  },
  {
    id: 'listPlans',
    method: 'get',
    path: '/v1/billing/plans',
    ...publicRow,
    summary: 'List the plans',
    replies: ok('All plans, cheapest first', v.array(Plan), [
      {
        id: 'free',
        name: 'Free',
        monthlyCap: 5000,
        maxKeys: 2,
        maxSites: 1,
        price: 0,
        stripePriceId: null,
      },
    ]),
  },
  {
    id: 'listPrices',
    method: 'get',
    path: '/v1/billing/prices',
    ...publicRow,
    summary: 'List the prices of the plans',
    description: 'Read from Stripe once a day.',
    replies: ok('All plans, cheapest first', v.array(PlanPrices), [examplePrices]),
  },
] as const satisfies readonly Operation[]
