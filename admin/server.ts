import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { type ListenAddress, listen } from '../lib/http/listen.ts'
import { createMetrics } from '../lib/parts/metrics/metrics.ts'
import { listScrapedMetrics } from '../lib/services/scraped-metrics.ts'
import type { Services } from '../lib/services/services.ts'
import { type Answer, createAnswer } from './answer.ts'
import { createProfile } from './profiler.ts'

/** The open admin port. */
export interface Admin {
  readonly url: string
  /** Closes the port at once and aborts requests in progress. */
  close(): void
}

/** For `checkAddress`. */
export const ADMIN_SETTINGS = { port: 'MERIDIAN_ADMIN_PORT', host: 'MERIDIAN_ADMIN_HOST' } as const
const CONNECTIONS = 32
const TIME_LIMITS = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 65_000 }

/** Opens the admin port. It does not keep the process alive. */
export async function startAdmin(address: ListenAddress, services: Services): Promise<Admin> {
  const { log } = services
  const metrics = createMetrics({
    scraped: listScrapedMetrics(services),
    requestTimes: services.requestTimes,
    onError: (error, name) => log.error({ err: error, name }, 'cannot measure'),
  })
  const answer = createAnswer({ health: services.health, metrics, profile: createProfile() })
  const server = createServer(TIME_LIMITS, async (request, response) => {
    const closed = new AbortController()
    response.once('close', () => closed.abort())
    try {
      const { method = '', url: target = '' } = request
      const answered = isForeign(request, address.host)
        ? FOREIGN
        : await answer({ method, target, signal: closed.signal })
      send(response, answered)
    } catch (error) {
      if (closed.signal.aborted) return
      log.error({ err: error }, 'cannot answer an operator')
      send(response, FAILED)
    }
  })
  server.maxConnections = CONNECTIONS
  const url = await listen(server, address, ADMIN_SETTINGS)
  server.unref()
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const PLAIN = 'text/plain; charset=utf-8'
const FOREIGN: Answer = { status: 403, type: PLAIN, body: 'Web pages may not use this port\n' }
const FAILED: Answer = { status: 500, type: PLAIN, body: 'Internal error, see the log\n' }
/** Of requests that no page sends: programs send no header, `none` is an address that a person has typed. */
const OWN_SITES: ReadonlySet<unknown> = new Set([undefined, 'none', 'same-origin'])
const LOOPBACK = /^(127\.[\d.]+|::1|localhost)$/

/**
 * Whether a web page in a browser on this machine may have sent the request. Such a request has an Origin, or
 * Sec-Fetch-Site says so (W3C, Fetch Metadata), as for an image, or its Host is a name that the page's owner has
 * pointed at this machine (DNS rebinding).
 */
function isForeign({ headers }: IncomingMessage, host: string): boolean {
  if (headers.origin !== undefined || !OWN_SITES.has(headers['sec-fetch-site'])) return true
  // Browsers always send Host; health checks in HTTP/1.0 do not.
  if (headers.host === undefined) return false
  const name = headers.host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return LOOPBACK.test(host) && name !== 'localhost' && isIP(name) === 0
}

function send(response: ServerResponse, { status, type, body, headers }: Answer): void {
  const all = {
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  response.writeHead(status, all).end(body)
}
