import type { LookupQuery } from '../../../lib/contract/geo/look-ups.ts'
import { toFieldLines } from '../../../lib/geo/answer/select-fields.ts'
import {
  type AnswerOptions,
  asksHostname,
  createFindExtras,
  createShape,
  type FindExtras,
  findMissing,
  type Missing,
  type Shape,
} from '../../../lib/geo/answer/shape.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { Library } from '../../../lib/geo/library.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import { type Address, parseAddress } from '../../../lib/parts/net/address.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { withLanguage } from './answer-language.ts'
import { refuseOverCap } from './over-cap.ts'

/**
 * The handlers of look-ups, which answer at once. `geolocationHandlers` answers queries for which `needsRouter` is
 * true.
 */
export function plainLookUps({ geo, config }: Pick<Services, 'config' | 'geo'>) {
  const locateFor = createLocate(geo, { hasHostnames: config.hostnames !== undefined })
  return {
    locateCaller: (call) => locateFor(call.clientAddress, call),
    locateAddress: (call) => locateFor(readAddress(call.params.ipAddress), call),
    getCallerTimezone: (call) => timezone(geo, call.clientAddress, call),
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
  const { geo, config, findHostname } = services
  const locateFor = createLocate(geo, { hasHostnames: config.hostnames !== undefined })
  const locateNamed = async (address: Address | null, call: LocateCall) => {
    const isNamed = needsHostname(call.query) && !call.degraded && address !== null
    return locateFor(address, call, isNamed ? await findHostname(address) : undefined)
  }
  const locateIn = async (address: Address | null, call: LocateCall) => {
    if (call.query.lang !== 'auto') return locateNamed(address, call)
    const { options: query, headers } = withLanguage(call.query, call.acceptLanguage)
    const reply = await locateNamed(address, { ...call, query })
    const missing = 'headers' in reply ? reply.headers : undefined
    return { ...reply, headers: { ...missing, ...headers } }
  }
  return {
    ...plainLookUps(services),
    locateCaller: (call) => locateIn(call.clientAddress, call),
    locateAddress: (call) => locateIn(readAddress(call.params.ipAddress), call),
  } satisfies Partial<Handlers>
}

/** Whether the answer needs the hostname, which takes time to find, or the header Accept-Language. */
export function needsRouter(query: LookupQuery): boolean {
  return query.lang === 'auto' || needsHostname(query)
}

function needsHostname(query: LookupQuery): boolean {
  return asksHostname(readOptions(query))
}

type LocateCall = Parameters<Handlers['locateCaller']>[0]

/** What a query asks for, ready to be applied to any answer. */
interface Choice {
  readonly options: AnswerOptions
  readonly findExtras: FindExtras | undefined
  readonly whole: Shape | undefined
  readonly degraded: Shape | undefined
}

/** Returns a function that locates an address, and answers with what the query selects. */
function createLocate(geo: Library, has: { readonly hasHostnames: boolean }) {
  /** Those who ask often ask with the same query, which is then the same object. */
  const choices = new WeakMap<LookupQuery, Choice>()
  const choose = (query: LookupQuery): Choice => {
    const options = readOptions(query)
    const choice = {
      options,
      findExtras: createFindExtras(geo, options, { degraded: false }),
      whole: createShape(geo, options, { degraded: false }),
      degraded: createShape(geo, options, { degraded: true }),
    }
    choices.set(query, choice)
    return choice
  }
  return (address: Address | null, call: LocateCall, hostname?: string) => {
    const choice = choices.get(call.query) ?? choose(call.query)
    const { options } = choice
    const shape = call.degraded ? choice.degraded : choice.whole
    const missing = findMissing(geo, options, has)
    const { status, json } = locate(geo, address, call, { findExtras: choice.findExtras, missing })
    const text = shape === undefined ? json : shape(json, address, hostname)
    if (call.form === 'text/plain' && options.fields !== undefined) {
      const lines = toFieldLines(JSON.parse(text), options.fields)
      return { status, form: call.form, text: lines, ...headOf(missing) }
    }
    // Copying each answer would take time.
    return missing === undefined
      ? { status, json: text }
      : { status, json: text, ...headOf(missing) }
  }
}

function readOptions({ fields, include, lang }: LookupQuery): AnswerOptions {
  return {
    lang: lang === 'auto' ? undefined : lang,
    fields: fields?.split(','),
    // safe: the contract allows only these names
    include: include?.split(',') as AnswerOptions['include'],
  }
}

const headOf = (missing: Missing | undefined) => missing && { headers: missing.headers }

interface LocateOptions {
  readonly findExtras: FindExtras | undefined
  readonly missing: Missing | undefined
}

function locate(
  geo: Library,
  address: Address | null,
  { requestId, now, caller, degraded }: LocateCall,
  { findExtras, missing }: LocateOptions,
) {
  const lacks = missing === undefined ? '' : `,"notIncluded":${JSON.stringify(missing.notIncluded)}`
  const request = `"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${degraded}${lacks}`
  if (address === null) {
    return { status: 404, json: `{"meta":{"precision":"none",${request}}}` } as const
  }
  const extras = degraded ? undefined : findExtras?.(address)
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
    field: 'ipAddress',
  })
}
