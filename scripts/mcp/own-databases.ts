import type { Caller } from '../../lib/access/authenticate.ts'
import { readConfig } from '../../lib/config/config.ts'
import { DEMO_PLAN } from '../../lib/config/plans.ts'
import type { ApiRequest } from '../../lib/mcp/api-request.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { createAskHostname } from '../../lib/net/hostname.ts'
import { parse } from '../../lib/parse.ts'
import { createFindHostname } from '../../lib/services/hostnames.ts'
import { autonomousSystemHandlers } from '../../routes/api/autonomous-systems.ts'
import { geolocationHandlers } from '../../routes/api/geolocation.ts'
import { summaryHandlers } from '../../routes/api/summary.ts'
import type { AnyHandler } from '../../routes/request/perform.ts'
import { openOwnGeo } from '../locate/open-own-geo.ts'

/** The caller of all tools is whoever runs the command, without limits. */
const CALLER: Caller = {
  userId: '',
  app: 'api',
  plan: { ...DEMO_PLAN, id: 'local', name: 'Local' },
  paid: null,
  scopes: null,
  key: null,
  label: null,
  origin: null,
}

const NO_LIMITS = { leftToCap: () => Number.POSITIVE_INFINITY, count: () => {} }

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
  const handlers = new Map<string, unknown>(
    Object.entries({
      locateAddress,
      ...summaryHandlers({ geo, meters: NO_LIMITS }),
      ...autonomousSystemHandlers({ geo }),
    }),
  )
  return {
    tools: TOOLS.filter(({ row }) => handlers.has(row.id)),
    // safe: `answer` parses what the handler of a row accepts
    ask: (request: ApiRequest) => answer(request, handlers.get(request.row.id) as AnyHandler),
    [Symbol.dispose]: () => geo[Symbol.dispose](),
  }
}

/** Answers like the API. Throws the ApiError that it would answer with. */
async function answer({ row, params, query, body }: ApiRequest, handler: AnyHandler) {
  const reply = await handler({
    requestId: crypto.randomUUID(),
    now: Date.now(),
    tally: { lookUps: 0 },
    params,
    query: row.query && parse(row.query, query),
    headers: undefined,
    body: row.body && parse(row.body.schema, body),
    form: 'application/json',
    caller: CALLER,
    clientAddress: null,
    degraded: false,
  })
  const { status } = reply
  if ('json' in reply) return { status, text: reply.json }
  if ('body' in reply) return { status, text: JSON.stringify(reply.body) }
  throw new Error(`${row.id} has no answer in JSON`)
}
