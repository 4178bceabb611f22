import * as v from 'valibot'
import { Plan } from './billing-schemas.ts'
import { Timestamp, UrlText } from './common.ts'
import type { Operation } from './operation.ts'

export const HealthStatus = v.pipe(
  v.strictObject({
    status: v.picklist(['ok', 'degraded']),
    uptime: v.pipe(v.string(), v.description('Approximate, such as 3 days')),
    timestamp: Timestamp,
    checks: v.strictObject({ geolocation: v.boolean(), database: v.boolean() }),
  }),
  v.description('Whether the service can do its work'),
)
export type HealthStatus = v.InferOutput<typeof HealthStatus>

export const Database = v.strictObject({
  name: v.string(),
  provider: v.string(),
  type: v.string(),
  builtAt: Timestamp,
  attribution: v.pipe(v.string(), v.description('To be shown with the data, as its licence asks')),
})

export const ServiceInfo = v.pipe(
  v.strictObject({
    name: v.string(),
    version: v.string(),
    documentation: UrlText,
    openapi: UrlText,
    plans: UrlText,
    databases: v.array(Database),
  }),
  v.description('What this service is and which databases it answers from'),
)
export type ServiceInfo = v.InferOutput<typeof ServiceInfo>

const healthy = {
  status: 'ok',
  uptime: '3 days',
  timestamp: '2026-01-15T12:00:00.000Z',
  checks: { geolocation: true, database: true },
} as const satisfies HealthStatus

export const systemOperations = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'System',
    summary: 'Whether the service can do its work',
    description: 'Makes a real look-up and a real write. Meant for load balancers.',
    access: 'public',
    limit: 'none',
    replies: {
      200: { description: 'All checks pass', schema: HealthStatus, example: healthy },
      503: {
        description: 'A check fails, or the service is shutting down',
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
    id: 'getOpenApi',
    method: 'get',
    path: '/.well-known/openapi.json',
    tag: 'System',
    summary: 'This description, as OpenAPI 3.1',
    access: 'public',
    limit: 'address',
    replies: {
      200: {
        description: 'An OpenAPI 3.1 document',
        schema: v.looseObject({ openapi: v.string() }),
        example: { openapi: '3.1.0' },
      },
    },
  },
  {
    id: 'getServiceInfo',
    method: 'get',
    path: '/v1',
    tag: 'System',
    summary: 'What this service is',
    access: 'public',
    limit: 'address',
    replies: {
      200: {
        description: 'Name, version, links and databases',
        schema: ServiceInfo,
        example: {
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
          ],
        },
      },
    },
  },
  {
    id: 'listPlans',
    method: 'get',
    path: '/v1/billing/plans',
    tag: 'System',
    summary: 'List the plans',
    access: 'public',
    limit: 'address',
    replies: {
      200: {
        description: 'All plans, cheapest first',
        schema: v.array(Plan),
        example: [
          {
            id: 'free',
            name: 'Free',
            monthlyCap: 5000,
            maxKeys: 2,
            maxSites: 1,
            price: 0,
            stripePriceId: null,
          },
        ],
      },
    },
  },
] as const satisfies readonly Operation[]
