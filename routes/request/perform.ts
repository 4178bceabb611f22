import type { Caller } from '../../lib/access/authenticate.ts'
import { isProxy } from '../../lib/access/client-address.ts'
import type { MediaType, Operation } from '../../lib/contract/operation.ts'
import type { Meter } from '../../lib/limits/meter.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Address } from '../../lib/parts/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { FileReply, Handlers, TextReply } from '../context.ts'
import type { Exchange } from './exchange.ts'
import { runWithinSuccessLimit } from './limit.ts'

/** A handler without the types of its row. `Handlers` in context.ts checks those. */
export type AnyHandler = (call: AnyCall) => AnyReply | Promise<AnyReply>

export interface AnyCall extends Omit<Input, 'clientHeader'> {
  readonly requestId: string
  readonly now: number
  readonly caller: Caller | null
  readonly clientAddress: Address | null
  readonly clientIsProxy: boolean
  readonly degraded: boolean
  readonly meter: Pick<Meter, 'left' | 'count'> | null
}

/** The input of an operation, parsed by its row. */
export interface Input {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
  readonly form: MediaType
  /** The header Accept-Language. */
  readonly acceptLanguage: string | undefined
  /** The header in which proxies name their clients. */
  readonly clientHeader: string | undefined
  /** Whether only the headers of the answer are sent, as for HEAD. */
  readonly isHead: boolean
}

export type AnyReply = AnyBody & { readonly headers?: Readonly<Record<string, string>> }

type AnyBody =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: number; readonly json: string; readonly bytesAfter?: readonly Uint8Array[] }
  | (TextReply & { readonly status: number })
  | (FileReply & { readonly status: number })

/** A call of an operation: who asks, and what counts it. */
export interface Asked
  extends Pick<Exchange, 'requestId' | 'now' | 'row' | 'caller' | 'client' | 'charge'> {
  /** null if the call counts towards no cap. */
  readonly meter: Pick<Meter, 'left' | 'isOverCap' | 'count'> | null
}

/** What `perform` needs, besides what the handler needs. */
export type PerformParts = Pick<Services, 'limits' | 'now'>

/** The handler of an operation. Beacons have none: routes/api/beacon.ts serves them. */
export function handlerOf(handlers: Partial<Handlers>, { id }: Operation): AnyHandler {
  if (!isKeyOf(handlers, id)) throw new Error(`No handler of ${id}`)
  // safe: `Handlers` proves that the handler of a row accepts what is parsed by that row
  return handlers[id] as AnyHandler
}

function isKeyOf<Table extends object>(table: Table, key: PropertyKey): key is keyof Table {
  return Object.hasOwn(table, key)
}

/**
 * Performs an operation once its caller is admitted: credential and limit are checked, and the input is parsed.
 * All operations are performed here, except look-ups by `serveKeyed` and beacons. Throws the ApiError to answer
 * with.
 */
export async function perform(
  services: PerformParts,
  handler: AnyHandler,
  asked: Asked,
  input: Input,
): Promise<AnyReply> {
  const call = toCall(asked, input)
  try {
    const reply = await runWithinSuccessLimit(services, asked, () => handler(call))
    countLookUp(asked)
    return reply
  } catch (error) {
    // A visitor whose country is not let in was looked up.
    if (error instanceof ApiError && error.code === 'FORBIDDEN') countLookUp(asked)
    throw error
  }
}

export function toCall(asked: Asked, input: Input): AnyCall {
  const { params, query, headers, body, form, acceptLanguage, clientHeader, isHead } = input
  const { requestId, now, row, caller, client, meter } = asked
  return {
    requestId,
    now,
    params,
    query,
    headers,
    body,
    form,
    acceptLanguage,
    isHead,
    caller,
    clientAddress: client === null ? null : client.address,
    clientIsProxy: client !== null && isProxy(client, clientHeader),
    degraded: row?.metered === true && meter?.isOverCap() === true,
    meter,
  }
}

/** Counts a request to a metered operation, whether or not the look-up found something. */
export function countLookUp({ row, meter }: Asked): void {
  if (row?.metered === true) meter?.count()
}
