import type { Caller } from '../lib/access/authenticate.ts'
import { parseAddress } from '../lib/address.ts'
import { NOT_AN_ADDRESS, shownText } from '../lib/geo/bulk.ts'
import { describe } from '../lib/geo/describe.ts'
import { quoted } from '../lib/geo/json-text.ts'
import type { Library } from '../lib/geo/library.ts'
import { createSelect } from '../lib/geo/select-fields.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

export function batchHandlers({ geo, meters }: Services) {
  return {
    locateBatch: ({ body, caller, now, requestId }) => {
      const select = body.fields === undefined ? undefined : createSelect(body.fields)
      const left = meters.leftToCap(caller, now)
      const { results, located } = locateAll({ geo, select, left, now }, body.ips)
      meters.count(caller, now, located)
      return { status: 200, json: toJson(results, { caller, requestId, degraded: located > left }) }
    },
  } satisfies Partial<Handlers>
}

interface Batch {
  readonly geo: Library
  readonly select: ((json: string) => string) | undefined
  /** How many addresses may be answered in full. */
  readonly left: number
  readonly now: number
}

/** One JSON object for each text, and how many of them were addresses. */
function locateAll({ geo, select, left, now }: Batch, ips: readonly string[]) {
  let located = 0
  const results = ips.map((text) => {
    const address = parseAddress(text)
    if (address === null) return errorJson(text)
    const degraded = located >= left
    located += 1
    const { json, precision } = describe(address, geo.find(address), { now, degraded })
    const result = `{${json},"meta":{"precision":"${precision}","degraded":${degraded}}}`
    return select === undefined ? result : select(result)
  })
  return { results, located }
}

function errorJson(text: string): string {
  const value = quoted(shownText(text))
  return `{"query":{"type":"ip","value":${value}},"error":{"code":"BAD_REQUEST","message":"${NOT_AN_ADDRESS}"}}`
}

interface Meta {
  readonly caller: Caller
  readonly requestId: string
  readonly degraded: boolean
}

function toJson(results: readonly string[], { caller, requestId, degraded }: Meta): string {
  const meta = `"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${degraded}`
  return `{"results":[${results.join(',')}],"meta":{${meta}}}`
}
