import type { Operation } from '../lib/contract/operation.ts'
import { BEACON_MAX_BYTES, Beacon } from '../lib/contract/telemetry-schemas.ts'
import { ApiError } from '../lib/errors.ts'
import { parseOrigin } from '../lib/origin.ts'
import { parse, parseJson, readBytes, readIncoming } from '../lib/parse.ts'
import { isBot, keepBeacon } from '../lib/rum/beacon.ts'
import type { Services } from '../lib/services/services.ts'
import type { Asked } from './context.ts'
import { beaconHeaders } from './cors.ts'
import { charge } from './limit.ts'
import type { Answer } from './respond.ts'
import { answer, answerError, openVisit, type Visit } from './visit.ts'

/**
 * Answers beacons, which have an order of checks of their own: size, rate, origin, body. What
 * refuses a page of a registered origin can be read by that page, too.
 */
export function serveBeacon(services: Services, row: Operation) {
  return async (c: Asked): Promise<Answer> => {
    const visit = openVisit(services, c, { row })
    const origin = parseOrigin(c.req.header('origin') ?? '')?.origin
    const siteIds = origin === undefined ? [] : services.rum.findSites(origin)
    const headers = origin !== undefined && siteIds.length > 0 ? beaconHeaders(origin) : {}
    try {
      const bytes = await readBody(c)
      charge(services, visit)
      checkPage(c, origin, siteIds)
      await keep(services, { c, visit, siteIds, bytes })
      return answer(services, visit, { status: 204, json: null, headers })
    } catch (error) {
      return answerError(services, visit, error, headers)
    }
  }
}

async function readBody({ req: { raw, incoming } }: Asked): Promise<Uint8Array> {
  if (incoming !== undefined) return readIncoming(incoming, BEACON_MAX_BYTES)
  return raw === undefined ? new Uint8Array() : readBytes(raw, BEACON_MAX_BYTES)
}

function checkPage({ req }: Asked, origin: string | undefined, siteIds: readonly string[]): void {
  if (origin === undefined) throw notAllowed('Origin must name the origin of the page')
  const referer = req.header('referer') ?? ''
  if (referer !== '' && URL.parse(referer)?.origin !== origin) {
    throw notAllowed('Referer and Origin must be of one origin')
  }
  if (siteIds.length === 0) throw notAllowed(`${origin} is no registered site`)
}

function notAllowed(message: string): ApiError {
  return new ApiError('ORIGIN_NOT_ALLOWED', message)
}

interface Sent {
  readonly c: Asked
  readonly visit: Visit
  readonly siteIds: readonly string[]
  readonly bytes: Uint8Array
}

async function keep({ rum }: Services, { c, visit, siteIds, bytes }: Sent): Promise<void> {
  const beacon = keepBeacon(parse(Beacon, parseJson(bytes)))
  const { client, now } = visit
  // Who sends it is not told.
  if (isBot(c.req.header('user-agent'))) return rum.countDropped(siteIds, 'bot', now)
  switch (await rum.accept(siteIds, beacon, { address: client?.address ?? null, now })) {
    case 'stored':
      return
    case 'full':
      rum.countDropped(siteIds, 'queue-full', now)
      throw new ApiError('RATE_LIMITED', 'Too many beacons wait to be stored; try again in 1 s', {
        headers: { 'retry-after': '1' },
      })
    case 'failed':
      throw new ApiError('SERVICE_UNAVAILABLE', 'The beacon cannot be stored now')
  }
}
