import type { Context } from 'hono'
import { writeResult } from '../../lib/geo/answer/write-result.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { type Address, parseAddress } from '../../lib/parts/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import { HomeAbout, HomePage, SAMPLES, type StartOffers } from '../../pages/home.tsx'
import type { Outcome } from '../../pages/outcome.tsx'
import { toPublicDatabase } from '../api/system.ts'
import type { Env } from '../context.ts'
import type { Exchange } from '../request/exchange.ts'
import { charge } from '../request/limit.ts'
import { instanceOf, type PageAnswer, render } from './page.ts'
import { mapHrefs, pageAssets } from './page-assets.ts'

/** In characters. Longer input is cut off. */
const MAX_TYPED = 100

/** Renders the landing page. */
export async function showHome(
  services: Services,
  c: Context<Env>,
  exchange: Exchange,
): Promise<PageAnswer> {
  const { config } = services
  const typed = config.demo ? readTyped(c) : null
  const { outcome, ...answered } = answerTyped(services, exchange, typed)
  const instance = instanceOf(services)
  const offersSignUp = config.allowSignUp && config.authUrl === undefined
  const html = HomePage({
    instance,
    assets: await pageAssets(instance.base, ...(config.demo ? (['home.js'] as const) : [])),
    url: services.baseUrl(),
    typed,
    outcome,
    maps: await mapHrefs(instance.base),
    offersSignUp,
    about: await renderAbout(services, { base: instance.base, offersSignUp }),
    form: config.demo ? { demoKey: await services.openDemo() } : null,
  })
  return { html, ...answered }
}

interface About {
  readonly prices: ReturnType<Services['catalogue']['list']>
  readonly html: ReturnType<typeof render>
}

/** The results of `renderAbout` by the list of databases, which is a new object after each reload. */
const abouts = new WeakMap<object, About>()

/** The part that is the same for every visitor. */
function renderAbout(
  { geo, plans, catalogue, billing }: Services,
  start: StartOffers,
): ReturnType<typeof render> {
  const databases = geo.list()
  const prices = catalogue.list()
  const known = abouts.get(databases)
  if (known?.prices === prices) return known.html
  const shown = databases.map(toPublicDatabase)
  const sold = plans.list.filter((plan) => billing.prices.soldAs(plan).length > 0)
  const offers = { ...start, plans: plans.list, free: plans.free, sold, prices }
  const html = render(HomeAbout({ ...offers, databases: shown }))
  abouts.set(databases, { prices, html })
  return html
}

/** The text in the look-up form; null if nothing was typed. */
export function readTyped({ req }: Context<Env>): string | null {
  const text = (req.query('ip') ?? '').trim().slice(0, MAX_TYPED)
  return text === '' ? null : text
}

type Answered = Pick<PageAnswer, 'status' | 'headers'> & { readonly outcome: Outcome }

/** Charges only for typed addresses. Showing visitors their own address is free. */
function answerTyped(services: Services, exchange: Exchange, typed: string | null): Answered {
  if (typed === null) return { outcome: greet(services, exchange), status: 200 }
  try {
    charge(services, exchange)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const seconds = Number(error.headers['retry-after'])
    return { outcome: { kind: 'limited', seconds }, status: error.status, headers: error.headers }
  }
  const address = parseAddress(typed)
  if (address === null) {
    return { outcome: { kind: 'invalid', text: typed }, status: 400 }
  }
  return { outcome: locate(services, address, exchange), status: 200 }
}

/** Shows the visitor's own address or, if nothing is known about it, a sample. */
function greet(services: Services, exchange: Exchange): Outcome {
  const { client } = exchange
  if (client === null) return { kind: 'no-client' }
  const own = locate(services, client.address, exchange)
  const sample = parseAddress(SAMPLES[0])
  if (isKnown(own) || sample === null || !services.config.demo) return own
  const example = locate(services, sample, exchange)
  if (!isKnown(example)) return own
  return { kind: 'example', result: example.result, own: client.address.text }
}

function isKnown({ result }: LocatedOutcome): boolean {
  return result.meta?.precision !== 'none'
}

type LocatedOutcome = Extract<Outcome, { readonly kind: 'located' }>

/** Locates an address for a visitor, who has no plan. */
export function locate(
  { geo }: Services,
  address: Address,
  { now, requestId }: Exchange,
): LocatedOutcome {
  const { json, precision } = writeResult(address, geo.find(address), { now, degraded: false })
  return { kind: 'located', result: { ...JSON.parse(`{${json}}`), meta: { precision, requestId } } }
}
