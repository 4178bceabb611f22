import { NOT_AN_ADDRESS, shownText } from '../../lib/geo/answer/bulk.ts'
import { describe } from '../../lib/geo/answer/describe.ts'
import { createSelect } from '../../lib/geo/answer/select-fields.ts'
import { asciiJson } from '../../lib/geo/place/json-text.ts'
import { parseAddress } from '../../lib/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

export function batchHandlers({ geo, meters }: Services) {
  return {
    locateBatch: ({ body, caller, now, requestId }) => {
      const { fields } = body
      const selectWhole = fields && createSelect(fields, { degraded: false })
      const selectReduced = fields && createSelect(fields, { degraded: true })
      const left = meters.leftToCap(caller, now)
      let located = 0
      const results = body.ips.map((text) => {
        const address = parseAddress(text)
        if (address === null) return errorJson(text)
        const degraded = located >= left
        located += 1
        const { json, precision } = describe(address, geo.find(address), { now, degraded })
        const result = `{${json},"meta":{"precision":"${precision}","degraded":${degraded}}}`
        const select = degraded ? selectReduced : selectWhole
        return select === undefined ? result : select(result)
      })
      meters.count(caller, now, located)
      const meta = `"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${located > left}`
      return { status: 200, json: `{"results":[${results.join(',')}],"meta":{${meta}}}` }
    },
  } satisfies Partial<Handlers>
}

function errorJson(text: string): string {
  const value = asciiJson(shownText(text))
  return `{"query":{"type":"ip","value":${value}},"error":{"code":"BAD_REQUEST","message":"${NOT_AN_ADDRESS}"}}`
}
