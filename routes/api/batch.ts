import { NOT_AN_ADDRESS, shownText } from '../../lib/geo/answer/bulk.ts'
import { describe } from '../../lib/geo/answer/describe.ts'
import { mapInSlices } from '../../lib/geo/answer/in-slices.ts'
import { createShape } from '../../lib/geo/answer/shape.ts'
import { asciiJson } from '../../lib/geo/place/json-text.ts'
import { type Address, parseAddress } from '../../lib/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

export function batchHandlers({ geo, meters }: Services) {
  return {
    locateBatch: async ({ body, caller, now, requestId }) => {
      const shapeWhole = createShape(geo, body, { degraded: false })
      const shapeReduced = createShape(geo, body, { degraded: true })
      const addresses = body.ips.map(parseAddress)
      const left = meters.leftToCap(caller, now)
      const count = addresses.filter((address) => address !== null).length
      // Before the first slice ends: a simultaneous batch finds the cap lowered by this one.
      meters.count(caller, now, count)
      let located = 0
      const locate = (address: Address) => {
        const degraded = located >= left
        located += 1
        const { json, precision } = describe(address, geo.find(address), { now, degraded })
        const result = `{${json},"meta":{"precision":"${precision}","degraded":${degraded}}}`
        const shape = degraded ? shapeReduced : shapeWhole
        return shape === undefined ? result : asciiJson(shape(result, address))
      }
      const results = await mapInSlices(addresses, (address, at) =>
        address === null ? errorJson(body.ips[at] ?? '') : locate(address),
      )
      const meta = `"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${count > left}`
      return { status: 200, json: `{"results":[${results.join(',')}],"meta":{${meta}}}` }
    },
  } satisfies Partial<Handlers>
}

function errorJson(text: string): string {
  const value = asciiJson(shownText(text))
  return `{"query":{"type":"ip","value":${value}},"error":{"code":"BAD_REQUEST","message":"${NOT_AN_ADDRESS}"}}`
}
