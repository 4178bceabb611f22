import type { LookupQuery } from '../../lib/contract/geo/look-ups.ts'
import { toFieldLines } from '../../lib/geo/answer/select-fields.ts'
import {
  type AnswerOptions,
  asksHostname,
  createFindExtras,
  createShape,
  notIncluded,
} from '../../lib/geo/answer/shape.ts'
import { writeResult } from '../../lib/geo/answer/write-result.ts'
import type { Library } from '../../lib/geo/library.ts'
import { asciiJson } from '../../lib/geo/place/json-text.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { type Address, parseAddress } from '../../lib/parts/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { refuseOverCap } from './over-cap.ts'

/** The handlers of look-ups that answer at once: their query includes at most the network and privacy. */
export function plainLookUps({ geo }: Pick<Services, 'geo'>) {
  return {
    locateAddress: (call) => {
      const options = readOptions(call.query)
      const answer = locate(geo, readAddress(call.params.ipAddress), call, options)
      const missing = notIncluded(geo, options, { hasHostnames: false })
      // Copying each answer would take time.
      return missing === undefined ? answer : { ...answer, ...missing }
    },
    getTimezone: (call) => timezone(geo, readAddress(call.params.ipAddress), call),
    validateAddress: (call) => ({
      status: 200,
      body: parseAddress(call.params.ipAddress) !== null,
    }),
  } satisfies Partial<Handlers>
}

/** What look-ups need. */
type Parts = Pick<Services, 'config' | 'geo' | 'findHostname'>

export function geolocationHandlers(services: Parts) {
  const { geo } = services
  return {
    ...plainLookUps(services),
    locateCaller: (call) => locateByQuery(services, call.clientAddress, call),
    locateAddress: (call) => locateByQuery(services, readAddress(call.params.ipAddress), call),
    getCallerTimezone: (call) => timezone(geo, call.clientAddress, call),
  } satisfies Partial<Handlers>
}

type LocateCall = Parameters<Handlers['locateCaller']>[0]

/** Answers with the fields that the query selects, or as plain text. */
async function locateByQuery(services: Parts, address: Address | null, call: LocateCall) {
  const { geo, findHostname } = services
  const options = readOptions(call.query)
  const hasHostnames = services.config.hostnames !== undefined
  const answer = {
    ...locate(geo, address, call, options),
    ...notIncluded(geo, options, { hasHostnames }),
  }
  const shape = createShape(geo, options, call)
  if (shape === undefined) return answer
  const isNamed = asksHostname(options) && !call.degraded && address !== null
  const hostname = isNamed ? await findHostname(address) : undefined
  const result = shape(answer.json, address, hostname)
  if (call.form === 'text/plain' && options.fields !== undefined) {
    const { json: _, ...head } = answer
    return { ...head, form: call.form, text: toFieldLines(result, options.fields) }
  }
  return { ...answer, json: asciiJson(result) }
}

function readOptions({ fields, include, lang }: LookupQuery): AnswerOptions {
  return {
    lang,
    fields: fields?.split(','),
    // safe: the contract allows only these names
    include: include?.split(',') as AnswerOptions['include'],
  }
}

function locate(
  geo: Library,
  address: Address | null,
  { requestId, now, caller, degraded }: LocateCall,
  options: AnswerOptions = {},
) {
  const request = `"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${degraded}`
  if (address === null) {
    return { status: 404, json: `{"meta":{"precision":"none",${request}}}` } as const
  }
  const extras = createFindExtras(geo, options, { degraded })?.(address)
  const { json, precision } = writeResult(address, geo.find(address), { now, degraded, extras })
  const status = precision === 'none' ? 404 : 200
  return { status, json: `{${json},"meta":{"precision":"${precision}",${request}}}` } as const
}

function timezone(geo: Library, address: Address | null, call: { readonly degraded: boolean }) {
  refuseOverCap(call)
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
