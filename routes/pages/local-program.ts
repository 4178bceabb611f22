import type { Context } from 'hono'
import { isLoopback } from '../../lib/config/base-url-problem.ts'
import type { Config } from '../../lib/config/config.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { answer, answerError, openExchange } from '../request/exchange.ts'
import { charge } from '../request/limit.ts'
import type { Answer } from '../request/respond.ts'
import { locate } from './home.ts'

const ROUTE = '/{ipAddress}'
const PATH = /^\/([0-9a-f.:]+)$/i

/** All that curl, HTTPie and Wget send by themselves. Browsers and proxies add others. */
const HEADERS = new Set(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])

/** A loopback name with or without a port. Pages that reach us by DNS rebinding send their own name. */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * Answers `GET /8.8.8.8` of a program on this machine with the look-up, as peers do; null for any other request.
 * It costs and gives what `/?ip=8.8.8.8` does, which is open to everybody.
 */
export function answerLocalProgram(services: Services, c: Context<Env>): Answer | null {
  const address = parseAddress(PATH.exec(c.req.path)?.[1] ?? '')
  if (address === null || !isLocalProgram(services.config, c)) return null
  const exchange = openExchange(services, c, { route: ROUTE })
  try {
    charge(services, exchange)
    const { result } = locate(services, address, exchange)
    const status = result.meta?.precision === 'none' ? 404 : 200
    return answer(services, exchange, { status, json: JSON.stringify(result) })
  } catch (error) {
    return answerError(services, exchange, error)
  }
}

type Settings = Pick<Config, 'host' | 'baseUrl' | 'trustedProxies' | 'demo'>

/**
 * Whether the request comes from a program on this machine: by the settings no proxy is in front, and nothing in the
 * request speaks of one, or of a browser. Proxies that are not configured may look the same, so what such a program
 * gets must be open to everybody.
 */
export function isLocalProgram(settings: Settings, { req, env }: Context<Env>): boolean {
  const { remoteAddress, httpVersion } = env
  return (
    isOnlyLocal(settings) &&
    httpVersion === '1.1' &&
    isLoopback(remoteAddress?.replace(/^::ffff:/, '') ?? '') &&
    (req.method === 'GET' || req.method === 'HEAD') &&
    LOCAL_HOST.test(req.header('host') ?? '') &&
    (req.header('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive' &&
    !/\btext\/html\b/.test(req.header('accept') ?? '') &&
    !req.raw.url.includes('?') &&
    [...req.raw.headers.keys()].every((name) => HEADERS.has(name))
  )
}

/** Whether the server is as a newcomer starts it: on loopback, for nobody else, with look-ups on its landing page. */
function isOnlyLocal({ host, baseUrl, trustedProxies, demo }: Settings): boolean {
  return demo && baseUrl === undefined && trustedProxies.length === 0 && isLoopback(host)
}
