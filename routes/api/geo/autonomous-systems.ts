import type { AutonomousSystem, SystemQuery } from '../../../lib/contract/geo/autonomous-systems.ts'
import type { NetworkList } from '../../../lib/geo/asn/prefixes.ts'
import { countryCode } from '../../../lib/geo/asn/summary.ts'
import type { System } from '../../../lib/geo/asn/systems.ts'
import type { Library } from '../../../lib/geo/library.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import type { Network } from '../../../lib/parts/net/network.ts'
import { networkText } from '../../../lib/parts/net/network.ts'
import { parseSystemNumber } from '../../../lib/parts/net/system-number.ts'
import { mapInSlices } from '../../../lib/parts/time-slices.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { refuseOverCap } from './over-cap.ts'

export function autonomousSystemHandlers({ geo }: Pick<Services, 'geo'>) {
  return {
    getAutonomousSystem: async (call) => {
      const number = readNumber(call.params.asn)
      refuseOverCap(call)
      const asn = `AS${number}`
      const { requestId } = call
      const system = await geo.findSystem(number)
      if (system === null) {
        const error = { code: 'NOT_FOUND', message: `No prefix of ${asn} is known` } as const
        const query = { type: 'asn', value: asn }
        return { status: 404, body: { error, meta: { requestId }, query } }
      }
      const page = await readPage(geo, system, call.query)
      const meta = { tier: call.caller.plan.id, requestId }
      return { status: 200, body: { asn, ...system.summary, ...page, meta } }
    },
  } satisfies Partial<Handlers>
}

function readNumber(text: string): number {
  const number = parseSystemNumber(text)
  if (number !== null) return number
  throw new ApiError(
    'BAD_REQUEST',
    'The path must hold the number of an autonomous system, such as AS15169',
    {
      query: { type: 'asn', value: text },
      field: 'asn',
    },
  )
}

type Page = Pick<AutonomousSystem, 'prefixes' | 'total' | 'limit' | 'offset'>

async function readPage(
  geo: Library,
  { ipv4, ipv6 }: System,
  { family, limit, offset }: SystemQuery,
): Promise<Page> {
  const lists = [...(family === '6' ? [] : [ipv4]), ...(family === '4' ? [] : [ipv6])]
  const prefixes = await mapInSlices(slice(lists, offset, limit), ({ address, prefix }) => {
    const country = countryCode(geo.find(address))
    return { prefix: networkText(address, prefix), ...(country !== undefined && { country }) }
  })
  const total = lists.reduce((sum, { length }) => sum + length, 0)
  return { prefixes, total, limit, offset }
}

/** Up to `limit` networks of the lists, one list after the other, after the first `offset`. */
function slice(lists: readonly NetworkList[], offset: number, limit: number): Network[] {
  let skipped = 0
  return lists.flatMap((list) => {
    const first = Math.max(0, offset - skipped)
    const last = Math.min(list.length, offset + limit - skipped)
    skipped += list.length
    return Array.from({ length: Math.max(0, last - first) }, (_, n) => list.at(first + n))
  })
}
