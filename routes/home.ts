import type { Context } from 'hono'
import { type Address, parseAddress } from '../lib/address.ts'
import { ApiError } from '../lib/errors.ts'
import { describe } from '../lib/geo/describe.ts'
import type { Services } from '../lib/services/services.ts'
import { HomePage } from '../pages/home.tsx'
import type { Outcome } from '../pages/outcome.tsx'
import type { Env } from './context.ts'
import { charge } from './limit.ts'
import { instanceOf, type PageAnswer } from './page.ts'
import { pageAssets } from './page-assets.ts'
import type { Headers } from './respond.ts'
import { toPublicDatabase } from './system.ts'
import type { Visit } from './visit.ts'

/** What a text may have that is typed in; more of it is not shown again. */
const MAX_TYPED = 100

/** Returns what makes the landing page. */
export function createShowHome(services: Services) {
  return async (c: Context<Env>, visit: Visit): Promise<PageAnswer> => {
    const { config, plans, geo } = services
    const typed = config.demo ? readTyped(c) : null
    const { outcome, status, headers } = answerTyped(services, visit, typed)
    const instance = instanceOf(services)
    const html = HomePage({
      instance,
      assets: await pageAssets(instance.base, ...(config.demo ? (['home.js'] as const) : [])),
      url: services.baseUrl(),
      typed,
      outcome,
      plans: plans.list,
      databases: geo.list().map(toPublicDatabase),
      form: config.demo ? { demoKey: await services.openDemo() } : null,
    })
    return { status, html, headers }
  }
}

/** null: nothing is typed. */
function readTyped({ req }: Context<Env>): string | null {
  const text = (req.query('ip') ?? '').trim().slice(0, MAX_TYPED)
  return text === '' ? null : text
}

interface Answered {
  readonly outcome: Outcome
  readonly status: number
  readonly headers: Readonly<Headers>
}

/** Only what is typed is charged: who merely comes by sees their own address. */
function answerTyped(services: Services, visit: Visit, typed: string | null): Answered {
  if (typed === null) {
    const address = visit.client === null ? null : visit.client.address
    const outcome = address === null ? NO_CLIENT : locate(services, address, visit)
    return { outcome, status: 200, headers: {} }
  }
  try {
    charge(services, visit)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const seconds = Number(error.headers['retry-after'])
    return { outcome: { kind: 'limited', seconds }, status: error.status, headers: error.headers }
  }
  const address = parseAddress(typed)
  if (address === null) {
    return { outcome: { kind: 'invalid', text: typed }, status: 400, headers: {} }
  }
  return { outcome: locate(services, address, visit), status: 200, headers: {} }
}

const NO_CLIENT = { kind: 'no-client' } as const

function locate({ geo }: Services, address: Address, { now, requestId }: Visit): Outcome {
  const { json, precision } = describe(address, geo.find(address), { now, degraded: false })
  return { kind: 'located', result: { ...JSON.parse(`{${json}}`), meta: { precision, requestId } } }
}
