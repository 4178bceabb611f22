import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import type { AnswerWhole, WholeRequest } from '../../lib/http/whole-request.ts'
import type { Services } from '../../lib/services/services.ts'
import { serveWholeBeacon } from '../api/beacon.ts'
import { createKeyedLookUps, hasPlainHost } from './keyed-look-ups.ts'
import type { Answer } from './respond.ts'

type WholeOperations = Pick<AnswerWhole, 'takesPost'> & {
  readonly answer: (request: WholeRequest) => Answer | Promise<Answer> | null
}

/** Answers look-ups with an API key, and beacons, of requests that are read whole. */
export function createAnswerWhole(services: Services): WholeOperations {
  const row = operations.find(({ id }) => id === 'sendBeacon')
  if (row === undefined) throw new Error('the contract has no beacons')
  const lookUp = createKeyedLookUps(services)
  const takeBeacon = createWholeBeacons(services, row)
  return {
    takesPost: (url) => url === row.path,
    answer: (request) => (request.body === null ? lookUp(request) : takeBeacon(request)),
  }
}

function createWholeBeacons(
  services: Services,
  row: Operation,
): (request: WholeRequest) => Promise<Answer> | null {
  const serve = serveWholeBeacon(services, row)
  return ({ method, headers, body, socket: { remoteAddress } }) => {
    if (body === null || !hasPlainHost(headers)) return null
    const req = { method, header: (name: string) => headers[name] }
    return serve({ env: { remoteAddress }, req }, body)
  }
}
