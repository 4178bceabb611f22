import { HonoRequest } from 'hono/request'
import { readKeyText } from '../../lib/access/authenticate.ts'
import type { LookupQuery } from '../../lib/contract/geo/look-ups.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import type { WholeRequest } from '../../lib/http/whole-request.ts'
import { BoundedCache } from '../../lib/parts/bounded-cache.ts'
import { ownText } from '../../lib/parts/own-text.ts'
import type { Services } from '../../lib/services/services.ts'
import { needsRouter, plainLookUps } from '../api/geo/geolocation.ts'
import type { HeadContext } from '../context.ts'
import { readQuery } from './admit.ts'
import type { Answer } from './respond.ts'
import { type KeyedParts, type SyncHandler, serveKeyed } from './serve.ts'

/** Addresses in their usual spelling, which needs no decoding. The router answers all others. */
const ADDRESS = '(?<ipAddress>[0-9a-f][0-9a-f.:]{0,44})'
/** A query that the adaptor passes on as it is. */
const QUERY = String.raw`(?:\?(?<query>[\w.,=&%+~-]{0,1000}))?`
/** Hosts that the adaptor accepts without parsing them as part of a URL. */
const PLAIN_HOST = /^[a-z0-9._-]+(:([1-5]\d{3,4}|[6-9]\d{3}))?$/

/** Different queries that are remembered. */
const QUERIES = 1_000

export type LookUpParts = KeyedParts & Pick<Services, 'config' | 'geo'>

type GetRequest = Omit<WholeRequest, 'body'>

/** Whether the adaptor accepts the header Host as it is. */
export function hasPlainHost(headers: WholeRequest['headers']): boolean {
  return PLAIN_HOST.test(headers['host'] ?? '')
}

/**
 * Returns a function that answers look-ups with an API key. It avoids Request, router and Response,
 * which would take longer than the look-up. It returns null to leave any other request to the router.
 */
export function createKeyedLookUps(services: LookUpParts): (request: GetRequest) => Answer | null {
  const handlers = plainLookUps(services)
  const lookUps = operations.flatMap((row: Operation) => {
    // safe: the path has at most the one parameter of these handlers, and a key has a caller
    return isKeyOf(handlers, row.id)
      ? createLookUp(services, row, handlers[row.id] as SyncHandler)
      : []
  })
  return ({ method, url, headers, socket: { remoteAddress } }) => {
    const header = (name: string) => headers[name]
    if (readKeyText(header) === undefined || !hasPlainHost(headers)) return null
    for (const { pattern, answer } of lookUps) {
      const match = pattern.exec(url)
      if (match !== null) return answer({ env: { remoteAddress }, req: { method, header } }, match)
    }
    return null
  }
}

/** A look-up whose URL has the form `pattern`. */
function createLookUp(services: LookUpParts, row: Operation, handler: SyncHandler) {
  const path = row.path.replace('{ipAddress}', ADDRESS)
  const readQueryText = rememberQueries(row)
  const answer = serveKeyed(services, row, handler)
  return {
    pattern: new RegExp(`^${path}${row.query === undefined ? '' : QUERY}$`),
    answer: (
      c: HeadContext,
      { groups: { ipAddress = '', query: text = '' } = {} }: RegExpExecArray,
    ) => {
      return answer(c, { params: { ipAddress }, readQuery: () => readQueryText(text) })
    },
  }
}

/**
 * Returns a function that reads the query of a look-up. Equal texts give the same object. It returns null for
 * what the router must answer: an error, or what `needsRouter` says.
 */
function rememberQueries(row: Operation): (text: string) => LookupQuery | null {
  const queries = new BoundedCache<string, LookupQuery | null>(QUERIES)
  return (text) => {
    const known = queries.get(text)
    if (known !== undefined) return known
    const query = tryRead(row, text)
    queries.set(ownText(text), query)
    return query
  }
}

function tryRead(row: Operation, text: string): LookupQuery | null {
  try {
    const request = new HonoRequest(new Request(`http://localhost/?${text}`))
    // safe: all look-ups have this query or none
    const query = (readQuery(row, request) ?? {}) as LookupQuery
    return needsRouter(query) ? null : query
  } catch {
    return null
  }
}

function isKeyOf<Table extends object>(table: Table, key: PropertyKey): key is keyof Table {
  return Object.hasOwn(table, key)
}
