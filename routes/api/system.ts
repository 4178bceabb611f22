import { toPublicPlan } from '../../lib/config/plans.ts'
import { VERSION } from '../../lib/config/version.ts'
import { DOCS_PATH } from '../../lib/contract/pages.ts'
import type { HealthStatus, ServiceInfo } from '../../lib/contract/system.ts'
import { timezoneData } from '../../lib/geo/answer/timezones.ts'
import { attributionOf } from '../../lib/geo/attribution.ts'
import type { GeoDatabase } from '../../lib/geo/database.ts'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { once } from '../../lib/parts/once.ts'
import { runInSlices } from '../../lib/parts/time-slices.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

type Parts = Pick<Services, 'baseUrl' | 'billing' | 'catalogue' | 'geo' | 'health' | 'plans'>

export function systemHandlers({ baseUrl, billing, catalogue, geo, health, plans }: Parts) {
  const writeOpenApi = once(async () => JSON.stringify(await runInSlices(createOpenApi(baseUrl()))))
  return {
    getHealth: async () => toReply(await health.read()),
    getReadiness: async () => toReply(await health.readLookUps()),
    getOpenApi: async () => ({ status: 200, json: await writeOpenApi() }),
    getServiceInfo: () => ({
      status: 200,
      body: {
        name: 'Meridian',
        version: VERSION,
        documentation: `${baseUrl()}${DOCS_PATH}`,
        openapi: `${baseUrl()}/.well-known/openapi.json`,
        plans: `${baseUrl()}/v1/billing/plans`,
        databases: [...geo.list().map(toPublicDatabase), timezoneDatabase()],
      },
    }),
    listPlans: () => ({
      status: 200,
      body: plans.list.map((plan) => toPublicPlan(plan, billing.prices.priceOf(plan))),
    }),
    listPrices: () => ({ status: 200, body: [...catalogue.list()] }),
  } satisfies Partial<Handlers>
}

function toReply(body: HealthStatus) {
  return body.status === 'ok' ? ({ status: 200, body } as const) : ({ status: 503, body } as const)
}

type PublicDatabase = ServiceInfo['databases'][number]

export function toPublicDatabase(database: GeoDatabase): Required<PublicDatabase> {
  const { name, provider, metadata } = database
  return {
    name,
    provider,
    type: metadata.databaseType,
    builtAt: new Date(metadata.builtAt).toISOString(),
    attribution: attributionOf(provider),
  }
}

function timezoneDatabase(): PublicDatabase {
  const provider = 'iana'
  const name = `tzdata-${timezoneData().release}`
  return { name, provider, type: 'timezones', attribution: attributionOf(provider) }
}
