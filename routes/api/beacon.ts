import type { Operation } from '../../lib/contract/operation.ts'
import { BEACON_MAX_BYTES, Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parseOrigin } from '../../lib/parts/net/origin.ts'
import { limitBytes, parse, parseJson, readBytes, refuseEncoding } from '../../lib/parts/parse.ts'
import { type KeptBeacon, keepBeacon } from '../../lib/rum/ingest/beacon.ts'
import { isBot } from '../../lib/rum/ingest/bots.ts'
import type { Services } from '../../lib/services/services.ts'
import type { HeadContext, RequestContext } from '../context.ts'
import { messageOf } from '../request/admit.ts'
import { beaconHeaders } from '../request/cors.ts'
import { answer, answerError, type Exchange, openExchange } from '../request/exchange.ts'
import { charge } from '../request/limit.ts'
import type { Answer } from '../request/respond.ts'

/** Answers the beacons that the router gets. */
export function serveBeacon(services: Services, row: Operation) {
  const answerBeacon = createAnswerBeacon(services, row)
  return (c: RequestContext): Promise<Answer> =>
    answerBeacon(c, () => readBytes(messageOf(c), BEACON_MAX_BYTES))
}

/** Answers beacons that are read whole, with their body. */
export function serveWholeBeacon(services: Services, row: Operation) {
  const answerBeacon = createAnswerBeacon(services, row)
  return (c: HeadContext, body: Uint8Array): Promise<Answer> =>
    answerBeacon(c, () => limitBytes(body, BEACON_MAX_BYTES))
}

/**
 * Answers beacons. Checks size, rate, origin and body, in this order. Pages of a registered origin can
 * also read error answers.
 */
function createAnswerBeacon(services: Services, row: Operation) {
  return async (c: HeadContext, read: () => Uint8Array | Promise<Uint8Array>): Promise<Answer> => {
    const exchange = openExchange(services, c, { row })
    let headers: Page['headers'] = {}
    try {
      const page = await findPage(services, c)
      headers = page.headers
      const bytes = await read()
      charge(services, exchange)
      const siteId = siteOf(c, page)
      refuseEncoding(c.req.header('content-encoding'))
      const beacon = keepBeacon(parse(Beacon, parseJson(bytes)))
      // Bots get the same answer as browsers.
      if (isBot(c.req.header('user-agent'))) services.rum.countDropped(siteId, 'bot', exchange.now)
      else await store(services, exchange, siteId, beacon)
      return answer(services, exchange, { status: 204, json: null, headers })
    } catch (error) {
      return answerError(services, exchange, error, headers)
    }
  }
}

type Page = Awaited<ReturnType<typeof findPage>>

/** The origin of the page, the site that gets its beacons, and headers that let it read the answer. */
async function findPage({ rum }: Services, { req }: HeadContext) {
  const origin = parseOrigin(req.header('origin') ?? '')?.origin
  const siteId = origin === undefined ? null : await rum.findSite(origin)
  const headers = origin === undefined || siteId === null ? {} : beaconHeaders(origin)
  return { origin, siteId, headers }
}

function siteOf({ req }: HeadContext, { origin, siteId }: Page): string {
  if (origin === undefined) throw notAllowed('Origin must name the origin of the page')
  const referer = req.header('referer') ?? ''
  if (referer !== '' && URL.parse(referer)?.origin !== origin) {
    throw notAllowed('Referer and Origin must have the same origin')
  }
  if (siteId === null) throw notAllowed(`No registered site gets the beacons of ${origin}`)
  return siteId
}

function notAllowed(message: string): ApiError {
  return new ApiError('ORIGIN_NOT_ALLOWED', message)
}

async function store(
  { rum }: Services,
  { client, now }: Exchange,
  siteId: string,
  beacon: KeptBeacon,
): Promise<void> {
  switch (await rum.accept(siteId, beacon, { address: client?.address ?? null, now })) {
    case 'stored':
      return
    case 'full':
      rum.countDropped(siteId, 'queue-full', now)
      throw new ApiError('RATE_LIMITED', 'Too many beacons wait to be stored; try again in 1 s', {
        headers: { 'retry-after': '1' },
      })
    case 'failed':
      throw new ApiError('SERVICE_UNAVAILABLE', 'The beacon cannot be stored now')
  }
}
