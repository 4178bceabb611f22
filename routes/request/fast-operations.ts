import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import type { FastPathOptions, FastRequest } from '../../lib/http/fast-path/fast-path.ts'
import type { Services } from '../../lib/services/services.ts'
import { serveWholeBeacon } from '../api/beacon.ts'
import { createFastLookUps, hasPlainHost } from './fast-look-ups.ts'
import type { Answer } from './respond.ts'

type FastOperations = Pick<FastPathOptions, 'takesPost'> & {
  readonly answer: (request: FastRequest) => Answer | Promise<Answer> | null
}

/** Answers look-ups with an API key, and beacons. */
export function createFastOperations(services: Services): FastOperations {
  const row = operations.find(({ id }) => id === 'sendBeacon')
  if (row === undefined) throw new Error('the contract has no beacons')
  const lookUp = createFastLookUps(services)
  const takeBeacon = createFastBeacons(services, row)
  return {
    takesPost: (url) => url === row.path,
    answer: (request) => (request.method === 'GET' ? lookUp(request) : takeBeacon(request)),
  }
}

function createFastBeacons(
  services: Services,
  row: Operation,
): (request: FastRequest) => Promise<Answer> | null {
  const serve = serveWholeBeacon(services, row)
  return ({ method, headers, body, socket: { remoteAddress } }) => {
    if (body === null || !hasPlainHost(headers)) return null
    const req = { method, header: (name: string) => headers[name] }
    return serve({ env: { remoteAddress }, req }, body)
  }
}
