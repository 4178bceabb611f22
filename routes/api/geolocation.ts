import type { LookupQuery } from '../../lib/contract/geo/look-ups.ts'
import { ApiError } from '../../lib/errors.ts'
import { describe } from '../../lib/geo/answer/describe.ts'
import { toFieldLines } from '../../lib/geo/answer/field-lines.ts'
import { type Asked, createShape } from '../../lib/geo/answer/shape.ts'
import type { Library } from '../../lib/geo/library.ts'
import { asciiJson } from '../../lib/geo/place/json-text.ts'
import { type Address, parseAddress } from '../../lib/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

export function geolocationHandlers({ geo }: Services) {
  return {
    locateCaller: (call) => locate(geo, call.clientAddress, call),
    locateAddress: (call) => locate(geo, readAddress(call.params.ipAddress), call),
    getCallerTimezone: (call) => timezone(geo, call.clientAddress, call),
    getTimezone: (call) => timezone(geo, readAddress(call.params.ipAddress), call),
    validateAddress: (call) => ({
      status: 200,
      body: parseAddress(call.params.ipAddress) !== null,
    }),
  } satisfies Partial<Handlers>
}

type LocateCall = Parameters<Handlers['locateCaller']>[0]

function locate(geo: Library, address: Address | null, call: LocateCall) {
  const answer = locateWhole(geo, address, call)
  const asked = readAsked(call.query)
  const shape = createShape(geo, asked, call)
  if (shape === undefined) return answer
  const result = shape(answer.json, address)
  const { status } = answer
  if (call.form === 'text/plain' && asked.fields !== undefined) {
    return { status, form: call.form, text: toFieldLines(result, asked.fields) } as const
  }
  return { status, json: asciiJson(result) } as const
}

function readAsked({ fields, include }: LookupQuery): Asked {
  return {
    fields: fields?.split(','),
    // safe: the contract allows only these names
    include: include?.split(',') as Asked['include'],
  }
}

function locateWhole(
  geo: Library,
  address: Address | null,
  { requestId, now, caller, degraded }: LocateCall,
) {
  const request = `"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${degraded}`
  if (address === null) {
    return { status: 404, json: `{"meta":{"precision":"none",${request}}}` } as const
  }
  const { json, precision } = describe(address, geo.find(address), { now, degraded })
  const status = precision === 'none' ? 404 : 200
  return { status, json: `{${json},"meta":{"precision":"${precision}",${request}}}` } as const
}

function timezone(geo: Library, address: Address | null, call: { readonly degraded: boolean }) {
  if (call.degraded) {
    throw new ApiError('PLAN_CAP_EXCEEDED', 'The monthly cap of the plan is used up')
  }
  const zone = address === null ? undefined : geo.find(address).timezone?.name
  if (zone !== undefined) return { status: 200, body: zone } as const
  const name = address?.text ?? 'an unknown address'
  return { status: 404, body: `No timezone data for ${name}` } as const
}

function readAddress(text: string): Address {
  const address = parseAddress(text)
  if (address !== null) return address
  throw new ApiError('BAD_REQUEST', 'The path must hold an IPv4 or IPv6 address', {
    query: { type: 'ip', value: text },
  })
}
