import { operations } from '../../lib/contract/operations.ts'
import type { FastRequest } from '../../lib/http/fast-path/fast-path.ts'
import type { Services } from '../../lib/services/services.ts'
import { serveWholeBeacon } from '../api/beacon.ts'
import { createFastLookUps, hasPlainHost } from './fast-look-ups.ts'
import type { Answer } from './respond.ts'

type FastAnswer = Answer | Promise<Answer>

/** Returns a function that answers look-ups with an API key, and beacons. It returns null for any other request. */
export function createFastOperations(
  services: Services,
): (request: FastRequest) => FastAnswer | null {
  const lookUp = createFastLookUps(services)
  const takeBeacon = createFastBeacons(services)
  return (request) => (request.method === 'GET' ? lookUp(request) : takeBeacon(request))
}

function createFastBeacons(services: Services): (request: FastRequest) => Promise<Answer> | null {
  const row = operations.find(({ id }) => id === 'sendBeacon')
  if (row === undefined) throw new Error('the contract has no beacons')
  const serve = serveWholeBeacon(services, row)
  return ({ method, url, headers, body, socket: { remoteAddress } }) => {
    if (body === null || url !== row.path || !hasPlainHost(headers)) return null
    const req = { method, header: (name: string) => headers[name] }
    return serve({ env: { remoteAddress }, req }, body)
  }
}
