import { join } from 'node:path'
import type { Caller } from '../../lib/access/authenticate.ts'
import { readConfig } from '../../lib/config/config.ts'
import { makeDataDir } from '../../lib/config/data-dir.ts'
import { DEMO_PLAN } from '../../lib/config/plans.ts'
import { openGeo } from '../../lib/geo/open-geo.ts'
import { createProgress } from '../../lib/geo/progress.ts'
import { createLog } from '../../lib/log/log.ts'
import type { ApiRequest } from '../../lib/mcp/api-request.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { createAskHostname } from '../../lib/net/hostname.ts'
import { parse } from '../../lib/parse.ts'
import { createFindHostname } from '../../lib/services/hostnames.ts'
import { autonomousSystemHandlers } from '../../routes/api/autonomous-systems.ts'
import { geolocationHandlers } from '../../routes/api/geolocation.ts'
import { summaryHandlers } from '../../routes/api/summary.ts'
import type { AnyHandler } from '../../routes/request/serve.ts'

/** Caches most records of a City file: this process may use more memory than a server. */
const CACHE_BITS = 18

/** Whoever runs the command: without limits. */
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
  makeDataDir(config.dataDir)
  const geo = await openGeo({
    directory: join(config.dataDir, 'geo'),
    files: config.geo.files,
    map: config.geo.map,
    cacheBits: CACHE_BITS,
    // The protocol has stdout for itself.
    log: createLog({ level: config.logLevel, fd: process.stderr.fd }),
    onProgress: createProgress(process.stderr),
    // Uses an existing atlas. Making one is not worth it for a single run.
    ...(config.geo.atlas && { compileAtlas: async () => {} }),
  })
  const { hostnames } = config
  const findHostname =
    hostnames === undefined
      ? async () => undefined
      : createFindHostname(createAskHostname(hostnames.servers))
  const { locateAddress } = geolocationHandlers({ geo, findHostname })
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
    send: (request: ApiRequest) => answer(request, handlers.get(request.row.id) as AnyHandler),
    [Symbol.dispose]: () => geo[Symbol.dispose](),
  }
}

/** Answers like the API. Throws the ApiError that it would answer with. */
async function answer({ row, params, query, body }: ApiRequest, handler: AnyHandler) {
  const reply = await handler({
    requestId: crypto.randomUUID(),
    now: Date.now(),
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
  if ('json' in reply) return new Response(reply.json, { status })
  if ('body' in reply) return Response.json(reply.body, { status })
  throw new Error(`${row.id} has no answer in JSON`)
}
