import type { Operation } from '../lib/contract/operation.ts'
import type { Incoming } from '../lib/parse.ts'
import type { Routes } from './app.ts'
import type { AskedRequest } from './context.ts'
import type { Answer } from './respond.ts'

/** What is read of a request of node:http. */
export interface PlainRequest extends Incoming, LookupRequest {
  readonly method?: string | undefined
}

interface LookupRequest {
  readonly url?: string | undefined
  readonly headers: PlainHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

interface PlainHeaders {
  readonly [name: string]: string | string[] | undefined
  readonly host?: string | undefined
}

/** What addresses are written with; another spelling of a path goes the usual way. */
const ADDRESS = '([0-9a-f][0-9a-f.:]*)'
const PLAIN_HOST = /^[a-z0-9._-]+(:\d{1,5})?$/

/**
 * Answers look-ups and beacons straight from the request of node:http: Request, Response and router
 * would take longer than the look-up. null: the request is for Hono, which answers it alike.
 */
export function createStraight(routes: Routes) {
  const lookups = routes.filter(({ row }) => isLookup(row)).map(toPattern)
  const beacons = routes.find(({ row }) => row.id === 'sendBeacon')
  return (request: PlainRequest): Answer | Promise<Answer> | null => {
    const { method, url = '', headers } = request
    if (!PLAIN_HOST.test(headers.host ?? '')) return null
    if (method === 'GET') return answerLookup(lookups, url, request)
    return method === 'POST' && url === beacons?.row.path ? answerBeacon(beacons, request) : null
  }
}

/** Answers look-ups with a key, which take no time. null: the request takes its way through node:http. */
export function createPlain(routes: Routes) {
  const lookups = routes.filter(({ row }) => isLookup(row)).map(toPattern)
  return (request: LookupRequest): Answer | null => {
    const { headers } = request
    if (headers['x-api-key'] === undefined || !PLAIN_HOST.test(headers.host ?? '')) return null
    // safe: serve waits for a session and for a body alone
    return answerLookup(lookups, request.url ?? '', request) as Answer | null
  }
}

function answerLookup(
  lookups: readonly ReturnType<typeof toPattern>[],
  url: string,
  { headers, socket }: LookupRequest,
): Answer | Promise<Answer> | null {
  for (const { pattern, toParams, answer } of lookups) {
    const value = pattern.exec(url)?.[1]
    if (value === undefined) continue
    return answer({
      env: { remoteAddress: socket.remoteAddress },
      req: new StraightRequest({ method: 'GET', headers, params: toParams(value) }),
    })
  }
  return null
}

function answerBeacon({ answer }: Routes[number], request: PlainRequest) {
  const { headers, socket } = request
  return answer({
    env: { remoteAddress: socket.remoteAddress },
    req: new StraightRequest({ method: 'POST', headers, incoming: request }),
  })
}

/** A row whose path holds an address. */
function isLookup({ method, access, path }: Operation): boolean {
  return method === 'get' && access === 'geo:read' && path.includes('{ipAddress}')
}

function toPattern({ row, answer }: Routes[number]) {
  const pattern = new RegExp(`^${row.path.replace('{ipAddress}', ADDRESS)}$`)
  return { pattern, toParams: (ipAddress: string) => ({ ipAddress }), answer }
}

interface StraightParts {
  readonly method: string
  readonly headers: PlainHeaders
  readonly params?: Readonly<Record<string, string>>
  /** Where a body is read. */
  readonly incoming?: Incoming
}

class StraightRequest implements AskedRequest {
  readonly method: string
  readonly raw = undefined
  readonly incoming: Incoming | undefined
  readonly #headers: PlainHeaders
  readonly #params: Readonly<Record<string, string>>

  constructor({ method, headers, params = {}, incoming }: StraightParts) {
    this.method = method
    this.incoming = incoming
    this.#headers = headers
    this.#params = params
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return typeof value === 'string' ? value : undefined
  }

  param(): Readonly<Record<string, string>> {
    return this.#params
  }

  /** What has a query goes the usual way. */
  query(): null {
    return null
  }
}
