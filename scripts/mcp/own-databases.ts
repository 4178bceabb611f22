import type { Caller } from '../../lib/access/authenticate.ts'
import { readConfig } from '../../lib/config/config.ts'
import { DEMO_PLAN } from '../../lib/config/plans.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { createLimits } from '../../lib/limits/rate-limiter.ts'
import type { AskApi } from '../../lib/mcp/api-request.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { createAskHostname } from '../../lib/parts/net/hostname.ts'
import { createFindHostname } from '../../lib/services/hostnames.ts'
import { autonomousSystemHandlers } from '../../routes/api/geo/autonomous-systems.ts'
import { geolocationHandlers } from '../../routes/api/geo/geolocation.ts'
import { summaryHandlers } from '../../routes/api/geo/summary.ts'
import type { Handlers } from '../../routes/context.ts'
import { type Asked, handlerOf, perform } from '../../routes/request/perform.ts'
import { readInput, textOf } from '../../routes/request/within.ts'
import { openOwnGeo } from '../address-lists/parts/open-own-geo.ts'

/** The caller of all tools is whoever runs the command, without limits. */
const CALLER: Caller = {
  userId: '',
  app: 'api',
  plan: { ...DEMO_PLAN, id: 'local', name: 'Local' },
  paid: null,
  capShares: [],
  scopes: null,
  key: null,
  label: null,
  origin: null,
}

/** Look-ups here count towards no cap. */
const UNMETERED = {
  left: () => Number.POSITIVE_INFINITY,
  isOverCap: () => false,
  count: () => {},
}

/**
 * The tools that need no more than databases, and the API's own handlers of them. The databases are those
 * that a server with this environment would use.
 */
export async function openOwnDatabases() {
  const config = readConfig(process.env)
  const geo = await openOwnGeo(config)
  const { hostnames } = config
  const findHostname =
    hostnames === undefined
      ? async () => undefined
      : createFindHostname(createAskHostname(hostnames.servers))
  const { locateAddress } = geolocationHandlers({ config, geo, findHostname })
  const handlers: Partial<Handlers> = {
    locateAddress,
    ...summaryHandlers({ geo }),
    ...autonomousSystemHandlers({ geo }),
  }
  const parts = { limits: createLimits(), now: Date.now }
  const ask: AskApi = async ({ row, ...given }) => {
    const reply = await perform(
      parts,
      handlerOf(handlers, row),
      toAsked(row),
      readInput(row, given),
    )
    return { status: reply.status, text: textOf(reply) }
  }
  return {
    tools: TOOLS.filter(({ row }) => Object.hasOwn(handlers, row.id)),
    ask,
    [Symbol.dispose]: () => geo[Symbol.dispose](),
  }
}

function toAsked(row: Operation): Asked {
  const requestId = crypto.randomUUID()
  const now = Date.now()
  return { requestId, now, row, caller: CALLER, client: null, charge: null, meter: UNMETERED }
}
