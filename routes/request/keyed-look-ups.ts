import { readKeyText } from '../../lib/access/authenticate.ts'
import { operations } from '../../lib/contract/operations.ts'
import type { WholeRequest } from '../../lib/http/whole-request.ts'
import type { Services } from '../../lib/services/services.ts'
import { plainLookUps } from '../api/geolocation.ts'
import type { Answer } from './respond.ts'
import { type KeyedParts, type SyncHandler, serveKeyed } from './serve.ts'

/** Addresses in their usual spelling, which needs no decoding. The router answers all others. */
const ADDRESS = '([0-9a-f][0-9a-f.:]*)'
/** What a look-up may include here: nothing for which it would have to wait. */
const INCLUDE = '(?:\\?include=((?:network|privacy)(?:,(?:network|privacy))?))?'
/** Hosts that the adaptor accepts without parsing them as part of a URL. */
const PLAIN_HOST = /^[a-z0-9._-]+(:([1-5]\d{3,4}|[6-9]\d{3}))?$/

export type LookUpParts = KeyedParts & Pick<Services, 'geo'>

type GetRequest = Omit<WholeRequest, 'method' | 'body'>

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
  const lookUps = operations.flatMap((row) => {
    if (!isKeyOf(handlers, row.id)) return []
    const query = row.id === 'locateAddress' ? INCLUDE : ''
    const pattern = new RegExp(`^${row.path.replace('{ipAddress}', ADDRESS)}${query}$`)
    // safe: the path has the one parameter of these handlers, and a key has a caller
    return { pattern, answer: serveKeyed(services, row, handlers[row.id] as SyncHandler) }
  })
  return ({ url, headers, socket: { remoteAddress } }) => {
    const header = (name: string) => headers[name]
    if (readKeyText(header) === undefined || !hasPlainHost(headers)) return null
    for (const { pattern, answer } of lookUps) {
      const [, ipAddress, include] = pattern.exec(url) ?? []
      if (ipAddress === undefined) continue
      const req = { method: 'GET', header }
      return answer({ env: { remoteAddress }, req }, { params: { ipAddress }, query: { include } })
    }
    return null
  }
}

function isKeyOf<Table extends object>(table: Table, key: PropertyKey): key is keyof Table {
  return Object.hasOwn(table, key)
}
